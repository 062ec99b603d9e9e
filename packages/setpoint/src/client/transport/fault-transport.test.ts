import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { lines } from "../lines.js";
import type { Handler } from "../testing/http-server.js";
import { readBytes, readJson } from "./body.js";
import { type Fault, type FaultPlan, faultTransport, randomFaults, scriptedFaults } from "./fault-transport.js";
import { get, reply, transportContract } from "./transport.contract.js";
import type { Transport } from "./transport.js";
import { abortedError, transportError } from "./transport-error.js";

/** A minimal transport: passes requests to a function. */
function direct(handler: Handler): Transport {
  let closed = false;
  return {
    async request(request) {
      const { signal } = request;
      if (closed) throw transportError("TRANSPORT_REFUSED", "closed");
      if (signal?.aborted) throw abortedError(signal);
      return handler(request);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
    },
  };
}

function faulty(
  plan: FaultPlan,
  handler: Handler = async () => reply("line 1\nline 2\nline 3\n"),
  clock = new VirtualClock(),
) {
  return { clock, transport: faultTransport(direct(handler), plan, clock) };
}

const one = (fault: Fault): FaultPlan => scriptedFaults([fault]);

describe("the fault transport", () => {
  it("refuses and resets before the server sees anything", async () => {
    let seen = 0;
    const { transport } = faulty(scriptedFaults([{ type: "refuse" }, { type: "reset" }]), async () => {
      seen++;
      return reply("x");
    });
    await expect(transport.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
    await expect(transport.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect(seen).toBe(0);
    expect((await readBytes((await transport.request(get("/"))).body)).toString()).toBe("x");
  });

  it("resets after the server has acted", async () => {
    let seen = 0;
    const { transport } = faulty(one({ type: "reset", afterSend: true }), async () => {
      seen++;
      return reply("x");
    });
    await expect(transport.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect(seen).toBe(1);
  });

  it("answers instead of the server, with JSON or a proxy's HTML", async () => {
    const { transport } = faulty(
      scriptedFaults([
        { type: "respond", status: 429, retryAfterSeconds: 3 },
        { type: "respond", status: 502, body: "<html>" },
      ]),
    );
    const busy = await transport.request(get("/"));
    expect([busy.status, busy.headers["retry-after"]]).toEqual([429, "3"]);
    expect(await readJson(get("/"), busy)).toMatchObject({ kind: "Status", reason: "TooManyRequests" });
    const broken = await transport.request(get("/"));
    expect((await readBytes(broken.body)).toString()).toBe("<html>");
  });

  it("cuts and truncates after a given number of bytes", async () => {
    const { transport } = faulty(
      scriptedFaults([
        { type: "cut", afterBytes: 9 },
        { type: "truncate", afterBytes: 9 },
      ]),
    );
    const received: string[] = [];
    const cut = (async () => {
      for await (const chunk of (await transport.request(get("/"))).body) received.push(Buffer.from(chunk).toString());
    })();
    await expect(cut).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect(received.join("")).toBe("line 1\nli");
    expect((await readBytes((await transport.request(get("/"))).body)).toString()).toBe("line 1\nli");
  });

  it("stalls for a time on its clock, then continues", async () => {
    const { transport, clock } = faulty(one({ type: "stall", afterBytes: 7, ms: 60_000 }));
    const all = readBytes((await transport.request(get("/"))).body);
    let isDone = false;
    void all.then(() => (isDone = true));
    await clock.advance(59_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect((await all).toString()).toBe("line 1\nline 2\nline 3\n");
  });

  it("stays half open until its reader stops or aborts", async () => {
    let closed = 0;
    const handler: Handler = async () => ({
      ...reply(""),
      body: (async function* () {
        try {
          yield Buffer.from("a\n");
          yield Buffer.from("b\n");
        } finally {
          closed++;
        }
      })(),
    });
    const { transport } = faulty(() => ({ type: "stall", afterBytes: 2 }), handler);
    const reader = (await transport.request(get("/"))).body[Symbol.asyncIterator]();
    await reader.next();
    const silent = reader.next();
    await reader.return?.();
    expect((await silent).done).toBe(true);

    const aborting = new AbortController();
    const response = await transport.request({ ...get("/"), signal: aborting.signal });
    const all = readBytes(response.body);
    await new Promise((resolve) => setImmediate(resolve));
    aborting.abort();
    await expect(all).rejects.toMatchObject({ code: "ABORTED" });
    expect(closed).toBe(1);
  });

  it("splits the body into chunks of a given size", async () => {
    const { transport } = faulty(one({ type: "fragment", bytes: 1 }), async () => reply("grün\nblau\n"));
    const response = await transport.request(get("/"));
    const seen: string[] = [];
    for await (const line of lines(response.body)) seen.push(line.toString());
    expect(seen).toEqual(["grün", "blau"]);
  });

  it("inserts an ERROR event after a complete line", async () => {
    const { transport } = faulty(one({ type: "error-event", afterBytes: 9, status: 410 }));
    const text = (await readBytes((await transport.request(get("/"))).body)).toString();
    expect(text).toMatch(/^line 1\nline 2\n\{"type":"ERROR","object":\{.*"code":410.*\}\n$/);
  });

  it("lets responses overtake each other", async () => {
    const order: string[] = [];
    const plan: FaultPlan = ({ path }) =>
      path === "/slow" ? { type: "delay", after: 500 } : { type: "delay", before: "100ms" };
    const { transport, clock } = faulty(plan);
    const both = ["/slow", "/fast"].map((path) => transport.request(get(path)).then(() => order.push(path)));
    await clock.advance(1000);
    await Promise.all(both);
    expect(order).toEqual(["/fast", "/slow"]);
  });

  it("repeats its random faults for the same seed", async () => {
    const run = (seed: number): readonly (string | undefined)[] => {
      const plan = randomFaults(seededRandom(seed), 0.5, [
        () => ({ type: "refuse" }),
        (random) => ({ type: "cut", afterBytes: Math.floor(random.next() * 100) }),
      ]);
      return Array.from({ length: 50 }, (_, index) => JSON.stringify(plan(get("/"), index)));
    };
    expect(run(7)).toEqual(run(7));
    expect(new Set(run(7).map((fault) => fault?.slice(0, 14)))).toEqual(
      new Set([undefined, '{"type":"refus', '{"type":"cut",']),
    );
    expect(run(8)).not.toEqual(run(7));
  });
});

describe("without a fault", () => {
  transportContract("the fault transport", async (handler) => {
    const { serve } = await import("../testing/http-server.js");
    const { http1Transport } = await import("./http1-transport.js");
    const server = await serve(handler, { protocol: "http" });
    const transport = faultTransport(
      http1Transport({ server: server.url, clock: systemClock }),
      () => undefined,
      systemClock,
    );
    return {
      transport,
      async [Symbol.asyncDispose]() {
        await transport[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
});
