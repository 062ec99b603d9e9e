import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type TLSSocket } from "node:tls";
import { systemClock, systemRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CertificateAuthority } from "../auth/certificates/certificate-authority.js";
import { ApiServer } from "./api-server.js";

const authority = CertificateAuthority.create({ clock: systemClock, random: systemRandom });
const serving = authority.issueServer("test", ["127.0.0.1"]);

let clock: VirtualClock;
let server: ApiServer;
beforeEach(async () => {
  clock = new VirtualClock();
  server = await ApiServer.listen({
    handler: async ({ body }) => ({ status: 200, headers: {}, body: Buffer.from(`${body.byteLength} bytes`) }),
    host: "127.0.0.1",
    port: 0,
    ...serving,
    clientCa: authority.certificate,
    clock,
    socketClock: clock,
    log: () => {},
  });
});
afterEach(() => server[Symbol.asyncDispose]());

async function connected(): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: server.port, ca: authority.certificate });
  await once(socket, "secureConnect");
  return socket;
}

/** The data received until the connection is closed; time passes meanwhile, and `drip` is sent each second. */
async function untilClosed(socket: TLSSocket, drip = ""): Promise<string> {
  let text = "";
  let isClosed = false;
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  for (let second = 0; second < 200 && !isClosed; second++) {
    if (drip !== "" && !socket.destroyed) socket.write(drip);
    await clock.advance(1000);
    // Real time, for bytes to cross the socket.
    await systemClock.sleep(2);
  }
  return isClosed ? text : `${text}\nstill open`;
}

const HEAD = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n";
const TIMEOUT = "Timeout: request did not complete within the allotted timeout";

describe("slow clients", () => {
  it.each([
    ["stalls", ""],
    ["comes byte by byte", "x"],
  ])("are told that a body which %s is too slow, and lose their connection", async (_how, drip) => {
    const socket = await connected();
    socket.write(`${HEAD}{`);
    const answer = await untilClosed(socket, drip);
    expect(answer).toMatch(/^HTTP\/1\.1 504 /);
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(answer).toContain(TIMEOUT);
  });

  it("are told the same over HTTP/2, where other streams go on", async () => {
    const session = connectHttp2(server.url, { ca: authority.certificate });
    const slow = session.request({ ":method": "POST", ":path": "/" });
    slow.write("{");
    const answered = once(slow, "response");
    // Frames of a connection are read in order: this response shows that the server has read the slow head, too.
    const after = session.request({ ":path": "/" });
    await once(after, "response");
    after.resume();
    await clock.advance(60_000);
    const [headers] = (await answered) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(504);
    const quick = session.request({ ":path": "/" });
    expect(((await once(quick, "response")) as [Record<string, unknown>])[0][":status"]).toBe(200);
    session.destroy();
  });

  it.each([
    ["nothing at all", "", ""],
    ["half a head", "GET / HT", ""],
    ["a head that never ends", "GET / HTTP/1.1\r\n", "a: b\r\n"],
  ])("lose a connection on which %s arrives", async (_what, first, drip) => {
    const socket = await connected();
    if (first !== "") socket.write(first);
    expect(await untilClosed(socket, drip)).toBe("");
  });

  it("may idle between requests for a while, whichever parser reads them", async () => {
    const socket = await connected();
    const answers: string[] = [];
    socket.on("data", (chunk: Buffer) => answers.push(chunk.toString()));
    for (const request of ["GET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nte: trailers\r\n\r\n"]) {
      for (let round = 0; round < 2; round++) {
        const answered = once(socket, "data");
        socket.write(request);
        await answered;
        await clock.advance(80_000);
      }
    }
    expect(answers).toHaveLength(4);
    expect(await untilClosed(socket)).toBe("");
  });

  it("lose an HTTP/2 connection without requests [R15]", async () => {
    const session = connectHttp2(server.url, { ca: authority.certificate });
    const request = session.request({ ":path": "/" });
    await once(request, "response");
    request.resume();
    await once(request, "close");
    const closed = once(session, "close");
    let isClosed = false;
    session.on("close", () => {
      isClosed = true;
    });
    await clock.advance(80_000);
    await systemClock.sleep(20);
    expect(isClosed).toBe(false);
    await clock.advance(40_000);
    await closed;
  });
});
