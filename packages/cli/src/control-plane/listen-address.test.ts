import { expect, it } from "vitest";
import { parseListenAddress } from "./listen-address.js";

it("takes names and addresses of both families", () => {
  expect(parseListenAddress("127.0.0.1:6443")).toEqual({ host: "127.0.0.1", port: 6443 });
  expect(parseListenAddress("[::1]:0")).toEqual({ host: "::1", port: 0 });
  expect(parseListenAddress("localhost:8443")).toEqual({ host: "localhost", port: 8443 });
});

it.each(["6443", "127.0.0.1", ":6443", "127.0.0.1:", "127.0.0.1:70000", "::1:6443", "[127.0.0.1]:1", "a:b", ""])(
  "refuses %j",
  (text) => {
    expect(() => parseListenAddress(text)).toThrow("expected HOST:PORT");
  },
);
