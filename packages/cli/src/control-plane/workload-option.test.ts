import { describe, expect, it } from "vitest";
import { parseWorkloads } from "./workload-option.js";

describe("--workloads", () => {
  it("selects all, none, or the named ones", () => {
    expect(parseWorkloads("true")).toBe(true);
    expect(parseWorkloads("false")).toBe(false);
    expect(parseWorkloads("deployments, pods")).toEqual({ deployments: true, pods: true });
  });

  it("lists the choices", () => {
    expect(() => parseWorkloads("deployments,lambdas")).toThrow(
      /--workloads lambdas: give true, false, or some of nodes,/,
    );
  });
});
