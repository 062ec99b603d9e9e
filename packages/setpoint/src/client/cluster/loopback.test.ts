import { describe, expect, it } from "vitest";
import { isLoopbackCaller, isLoopbackHost } from "./loopback.js";

describe("this machine", () => {
  it.each(["localhost", "::1", "127.0.0.1", "127.0.0.53", "::ffff:127.0.0.1"])("is named by %s", (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });

  it.each(["127.example.com", "127.0.0.1.example.com", "10.0.0.1", "::", "", "localhost.example.com"])(
    "is not named by %j",
    (host) => {
      expect(isLoopbackHost(host)).toBe(false);
    },
  );

  it("is the caller only at its own address, not at one from which a sidecar forwards others", () => {
    for (const address of ["::1", "127.0.0.1", "::ffff:127.0.0.1"]) expect(isLoopbackCaller(address)).toBe(true);
    for (const address of ["127.0.0.6", "::ffff:127.0.0.6", "localhost", "10.0.0.1", "", undefined]) {
      expect(isLoopbackCaller(address)).toBe(false);
    }
  });
});
