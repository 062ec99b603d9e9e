import { describe, expect, it } from "vitest";
import { podWarnings } from "./pod-warnings.js";

const container = { name: "c", image: "i" };
const ofPod = (spec: object): readonly string[] => podWarnings({ spec: { containers: [container], ...spec } }, "");

describe("warnings about pods", () => {
  it("are none for a plain pod", () => {
    expect(ofPod({})).toEqual([]);
    expect(podWarnings(undefined, "")).toEqual([]);
  });

  it("name a variable that hides another, unless it builds on it", () => {
    const env = (value: string): object => ({
      ...container,
      env: [
        { name: "A", value: "1" },
        { name: "A", value },
      ],
    });
    const why = 'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply';
    expect(ofPod({ containers: [env("2")] })).toEqual([why]);
    expect(ofPod({ containers: [env("$(A)")] })).toEqual([why]);
    expect(ofPod({ containers: [env("$(A)2")] })).toEqual([]);
  });

  it("tell fractions of bytes from amounts that are whole", () => {
    const memory = (amount: string): readonly string[] =>
      ofPod({ containers: [{ ...container, resources: { limits: { memory: amount } } }] });
    const shown = (amount: string): string =>
      `spec.containers[0].resources.limits[memory]: fractional byte value "${amount}" is invalid, must be an integer`;
    expect(memory("100m")).toEqual([shown("100m")]);
    expect(memory("1.5")).toEqual([shown("1500m")]);
    for (const amount of ["1Gi", "0.5Gi", "1000m", "1e3", "12E", "5M"]) expect(memory(amount)).toEqual([]);
  });

  it("look into templates below their path, and take labels such as constructor for words", () => {
    const spec = { nodeSelector: { constructor: "x", "beta.kubernetes.io/os": "linux" } };
    expect(podWarnings({ spec }, "spec.template")).toEqual([
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
  });
});
