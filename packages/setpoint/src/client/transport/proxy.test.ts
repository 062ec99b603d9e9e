import { describe, expect, it } from "vitest";
import { proxyFromEnvironment } from "./proxy.js";

const proxy = "http://proxy:3128";

describe("the proxy from the environment", () => {
  it.each([
    ["https://api.example.com", { HTTPS_PROXY: proxy }, proxy],
    ["https://api.example.com", { https_proxy: proxy }, proxy],
    ["https://api.example.com", { HTTP_PROXY: proxy }, undefined],
    ["http://api.example.com", { HTTP_PROXY: "proxy:3128" }, proxy],
    ["https://localhost:6443", { HTTPS_PROXY: proxy }, undefined],
    ["https://127.0.0.1:6443", { HTTPS_PROXY: proxy }, undefined],
    ["https://[::1]:6443", { HTTPS_PROXY: proxy }, undefined],
    ["https://api.example.com", {}, undefined],
  ])("for %s with %o is %s", (server, env, expected) => {
    expect(proxyFromEnvironment(server, env)).toBe(expected);
  });

  it.each([
    ["*", "https://api.example.com", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://api.example.com", true],
    ["example.com", "https://notexample.com", false],
    [".example.com", "https://example.com", false],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    ["example.com:6443", "https://example.com:6443", true],
    ["example.com:6443", "https://example.com", false],
    ["other, API.Example.com", "https://api.example.com", true],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.1.2.3", "https://10.1.2.3:6443", true],
    ["10.1.2.3:443", "https://10.1.2.3:6443", false],
    ["fd00::/8", "https://[fd12::1]", true],
    ["fd12::1", "https://[fd12::1]", true],
    ["[fd12::1]:443", "https://[fd12::1]", true],
    ["10.0.0.0/99, ,", "https://10.1.2.3", false],
  ])("with NO_PROXY=%s bypasses %s: %s", (noProxy, server, isExcepted) => {
    expect(proxyFromEnvironment(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy }) === undefined).toBe(isExcepted);
  });
});
