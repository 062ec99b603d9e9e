import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../clock/system-clock.js";
import { serve, type TestServer } from "../testing/http-server.js";
import { readBytes } from "./body.js";
import { http1Transport } from "./http1-transport.js";
import { get, reply } from "./transport.contract.js";
import type { Transport } from "./transport.js";
import { tunnelThrough } from "./tunnel.js";

let target: TestServer;
let proxy: Server;
const open: { close(): unknown }[] = [];

beforeEach(async () => {
  target = await serve(async ({ path }) => reply(`answer to ${path}`), { protocol: "https" });
});

afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await target[Symbol.asyncDispose]();
});

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  proxy = createServer(onConnection).listen(0, "127.0.0.1");
  open.push(proxy);
  await once(proxy, "listening");
  return (proxy.address() as AddressInfo).port;
}

function through(proxyUrl: string): Transport {
  const tunnel = tunnelThrough(proxyUrl, systemClock);
  const transport = http1Transport({ server: target.url, clock: systemClock, tls: { ca: target.ca }, tunnel });
  open.push({ close: () => transport[Symbol.asyncDispose]() });
  return transport;
}

function join(left: Socket, right: Socket): void {
  left.pipe(right).pipe(left);
  for (const socket of [left, right]) socket.on("error", () => {});
}

describe("a tunnel", () => {
  it("goes through an HTTP proxy with CONNECT and its password", async () => {
    const heads: string[] = [];
    const port = await listen((socket) => {
      socket.once("data", (bytes) => {
        heads.push(bytes.toString());
        const upstream = connect(Number(new URL(target.url).port), "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
          join(socket, upstream);
        });
      });
    });
    const { body } = await through(`http://user:p%40ss@127.0.0.1:${port}`).request(get("/x"));
    expect((await readBytes(body)).toString()).toBe("answer to /x");
    const { host } = new URL(target.url);
    expect(heads[0]).toContain(`CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n`);
    expect(heads[0]).toContain(`proxy-authorization: Basic ${Buffer.from("user:p@ss").toString("base64")}\r\n`);
  });

  it("rejects with an error that names the proxy, not its password, if the proxy refuses", async () => {
    const port = await listen((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")),
    );
    const error = (await through(`http://user:secret@127.0.0.1:${port}`)
      .request(get("/"))
      .catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code: "TRANSPORT_REFUSED" });
    expect(error.message).toContain(
      `the proxy 127.0.0.1:${port} answered "HTTP/1.1 407 Proxy Authentication Required"`,
    );
    expect(error.message).not.toContain("secret");
  });

  it("rejects if the proxy closes the connection", async () => {
    const port = await listen((socket) => socket.once("data", () => socket.destroy()));
    await expect(through(`http://127.0.0.1:${port}`).request(get("/"))).rejects.toMatchObject({
      code: "TRANSPORT_REFUSED",
      message: expect.stringContaining("closed the connection"),
    });
  });

  it("can be aborted while the proxy has not answered", async () => {
    const stop = new AbortController();
    const port = await listen((socket) => socket.once("data", () => stop.abort()));
    const request = through(`http://127.0.0.1:${port}`).request({ ...get("/"), signal: stop.signal });
    await expect(request).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("goes through a SOCKS 5 proxy, with and without a password", async () => {
    const asked: string[] = [];
    const port = await listen(async (socket) => {
      socket.on("error", () => {});
      const next = async (): Promise<Buffer> => (await once(socket, "data"))[0];
      const hello = await next();
      if (hello.includes(2, 2)) {
        socket.write(Buffer.from([5, 2]));
        asked.push((await next()).subarray(2).toString("latin1"));
        socket.write(Buffer.from([1, 0]));
      } else socket.write(Buffer.from([5, 0]));
      const request = await next();
      asked.push(`${request.subarray(5, 5 + request[4]!)}:${request.readUInt16BE(5 + request[4]!)}`);
      const upstream = connect(Number(new URL(target.url).port), "127.0.0.1", () => {
        socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
        join(socket, upstream);
      });
    });
    const { host } = new URL(target.url);
    await readBytes((await through(`socks5://127.0.0.1:${port}`).request(get("/"))).body);
    expect(asked).toEqual([host]);
    const { body } = await through(`socks5://me:pw@127.0.0.1:${port}`).request(get("/y"));
    expect((await readBytes(body)).toString()).toBe("answer to /y");
    expect(asked.slice(1)).toEqual(["me\u0002pw", host]);
  });
});
