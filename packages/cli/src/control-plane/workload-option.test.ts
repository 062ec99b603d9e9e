import { describe, expect, it } from "vitest";
import { parseWorkloads } from "./workload-option.js";

describe("--workloads", () => {
  it("chooses all, none, or those named", () => {
    expect(parseWorkloads("true")).toBe(true);
    expect(parseWorkloads("false")).toBe(false);
    expect(parseWorkloads("deployments, pods")).toEqual({ deployments: true, pods: true });
  });

  it("names what there is to choose from", () => {
    expect(() => parseWorkloads("deployments,lambdas")).toThrow(
      /--workloads lambdas: give true, false, or some of nodes,/,
    );
  });
});
