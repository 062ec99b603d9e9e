import { describe, expect, it } from "vitest";
import { dnsSubdomain, labelValue, qualifiedName } from "./label-rules.js";
import { dns1035Label, dnsLabel, labelName, pathSegmentName } from "./name-rules.js";

describe("name rules", () => {
  it("accept what the real server accepts", () => {
    expect(dnsSubdomain("a.b-c.d1")).toEqual([]);
    expect(dnsLabel("a-b")).toEqual([]);
    expect(dns1035Label("a1")).toEqual([]);
    expect(qualifiedName("example.com/My_name.1")).toEqual([]);
    expect(labelValue("")).toEqual([]);
    expect(labelName("prefix-", true)).toEqual([]);
    expect(pathSegmentName("system:node-proxier", false)).toEqual([]);
  });

  it("report violations in the real server's words", () => {
    expect(dnsSubdomain("X_")).toEqual([
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    expect(dnsSubdomain("x".repeat(254))).toEqual(["must be no more than 253 characters"]);
    expect(dnsLabel("a.b")).toEqual(["must not contain dots"]);
    expect(qualifiedName("@")).toEqual([
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ]);
    expect(qualifiedName("/a")).toEqual(["prefix part must be non-empty"]);
    expect(labelValue("c:d")).toHaveLength(1);
    expect(labelValue("x".repeat(64))).toEqual(["must be no more than 63 bytes"]);
    expect(pathSegmentName("..", false)).toEqual(["may not be '..'"]);
    expect(pathSegmentName("a/b%", false)).toEqual(["may not contain '/'", "may not contain '%'"]);
  });

  it("are fast for very long names", () => {
    expect(dnsSubdomain("a-".repeat(500_000))).toHaveLength(2);
    expect(qualifiedName("a".repeat(1_000_000))).toEqual(["name part must be no more than 63 bytes"]);
  });
});
