import { describe, expect, it } from "vitest";
import { goDuration, readEnvironment } from "./environment.js";
import { druidOperator } from "./operator.js";

describe("the environment of druid-operator", () => {
  it("is read, with spaces trimmed [D40]", () => {
    const env = {
      DENY_LIST: "default, kube-system ,",
      WATCH_NAMESPACE: " a ,b",
      RECONCILE_WAIT: "1m30s",
      MAX_CONCURRENT_RECONCILES: "7",
    };
    expect(readEnvironment(env)).toEqual({
      denied: ["default", "kube-system"],
      namespaces: ["a", "b"],
      pollInterval: 90_000,
      concurrency: 7,
    });
    expect(readEnvironment({ MAX_CONCURRENT_RECONCILES: "many" })).toEqual({
      denied: [],
      namespaces: undefined,
      pollInterval: undefined,
      concurrency: undefined,
    });
  });

  it.each(["abc", "10", "", "10s!", "s"])('refuses RECONCILE_WAIT="%s" [D40]', (text) => {
    expect(() => goDuration("RECONCILE_WAIT", text)).toThrow(`RECONCILE_WAIT: "${text}" is not a duration`);
  });

  it("fails the start of the operator if it is invalid [D40]", async () => {
    await expect(druidOperator.start({}, { RECONCILE_WAIT: "abc" })).rejects.toThrow("RECONCILE_WAIT");
    await expect(druidOperator.start({ "orphan-grace": "soon" }, {})).rejects.toThrow("--orphan-grace");
  });

  it("is combined with flags, which override it", async () => {
    const { loops } = await druidOperator.start(
      { "watch-namespace": "c", "disable-ingestion-controller": true },
      { WATCH_NAMESPACE: "a" },
    );
    expect(loops.map((loop) => [loop.name, "namespaces" in loop ? loop.namespaces : undefined])).toEqual([
      ["druid", ["c"]],
      ["druid-dynamic-config", ["c"]],
    ]);
  });
});
