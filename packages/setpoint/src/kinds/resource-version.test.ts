import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareResourceVersions } from "./resource-version.js";

const version = fc.bigInt({ min: 1n, max: 10n ** 40n });

describe("resourceVersions", () => {
  it("compare as numbers of any length", () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareResourceVersions(`${a}`, `${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it.each(["", "0", "01", "-1", "1.0", "1e3", "abc", " 1", "１"])("%j is invalid", (malformed) => {
    const error = expect.objectContaining({ code: "RESOURCE_VERSION_INVALID" });
    expect(() => compareResourceVersions(malformed, "1")).toThrow(error);
    expect(() => compareResourceVersions("1", malformed)).toThrow(error);
  });
});
