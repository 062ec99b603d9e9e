import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Flow, FlowLimits } from "./flow-limits.js";

const options = {
  requests: 10,
  requestsPerFlow: 6,
  requestsGuaranteed: 2,
  bodyBytes: 100,
  bodyBytesPerFlow: 60,
};

const status = { code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } };
const refused = { status: expect.objectContaining(status) as object };

describe("limits of flows", () => {
  it("refuse a flow beyond its share with 429, and admit others [R8]", () => {
    const limits = new FlowLimits(options);
    const flows = Array.from({ length: 6 }, () => limits.enter("greedy"));
    expect(() => limits.enter("greedy")).toThrow(expect.objectContaining(refused));
    limits.enter("honest");
    limits.leave(flows[0]!);
    limits.enter("greedy");
    expect(limits.rejected).toBe(1);
  });

  it("grant every flow a few requests and one body, whatever the others use [R8]", () => {
    const limits = new FlowLimits(options);
    for (const name of ["a", "b"]) {
      for (let count = 0; count < 5; count++) limits.reserve(limits.enter(name), 10);
    }
    expect(() => limits.enter("a")).toThrow(expect.objectContaining(refused));
    const honest = limits.enter("honest");
    limits.reserve(honest, 3);
    expect(() => limits.reserve(honest, 3)).toThrow(expect.objectContaining(refused));
    limits.enter("honest");
    expect(() => limits.enter("honest")).toThrow(expect.objectContaining(refused));
  });

  it("count requests in progress, however they begin and end", () => {
    const step = fc.record({ flow: fc.constantFrom("a", "b", "c"), bytes: fc.nat(40), isEnd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limits = new FlowLimits(options);
        const open: { flow: Flow; bytes: number }[] = [];
        for (const { flow: name, bytes, isEnd } of steps) {
          const last = isEnd ? open.pop() : undefined;
          if (last) limits.leave(last.flow, last.bytes);
          try {
            const request = { flow: limits.enter(name), bytes: 0 };
            open.push(request);
            limits.reserve(request.flow, bytes);
            request.bytes = bytes;
          } catch (error) {
            expect(error).toMatchObject(refused);
          }
          expect(limits.inFlight).toBe(open.length);
          for (const each of ["a", "b", "c"]) {
            expect(open.filter(({ flow }) => flow.name === each).length).toBeLessThanOrEqual(options.requestsPerFlow);
          }
        }
        for (const { flow, bytes } of open) limits.leave(flow, bytes);
        expect(limits.inFlight).toBe(0);
        limits.reserve(limits.enter("a"), 60);
      }),
    );
  });
});
