import { describe, expect, it } from "vitest";
import { addressName, canonicalCidr, cidr, ipAddress, isWithin, looseRange } from "./address-rules.js";
import { errorsOf, type Rule } from "./rule.js";
import { specialAddress } from "./service-rules.js";

const said = (rule: Rule, value: string): readonly string[] =>
  errorsOf(rule, value, "f").map(({ detail }) => detail.replace(`Invalid value: ${JSON.stringify(value)}: `, ""));

const NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

describe("addresses", () => {
  it.each([
    ["10.0.0.1", []],
    ["2001:DB8::0001", []],
    ["::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]],
    ["010.0.0.1", ["must not have leading 0s"]],
    ["2001:db8::00001", ["must not have leading 0s"]],
    ["fe80::1%eth0", [NO_ADDRESS]],
    ["10.0.0", [NO_ADDRESS]],
    ["10.0.0.256", [NO_ADDRESS]],
    ["", [NO_ADDRESS]],
  ])("%s", (value, complaints) => {
    expect(said(ipAddress, value)).toEqual(complaints);
  });

  it.each([
    ["10.0.0.0/8", []],
    ["0.0.0.0/0", []],
    ["2001:DB8::/32", []],
    ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
    ["10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]],
    ["::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]],
    ["10.0.0.0/33", [NO_RANGE]],
    ["10.0.0.0", [NO_RANGE]],
    ["10.0.0.0/", [NO_RANGE]],
  ])("%s", (value, complaints) => {
    expect(said(cidr, value)).toEqual(complaints);
  });

  it("must be canonical if they are names or new", () => {
    expect(addressName("2001:DB8::1", false)).toEqual(['must be in canonical form ("2001:db8::1")']);
    expect(addressName("10.0.0.1", false)).toEqual([]);
    expect(said(canonicalCidr, "2001:DB8::/32")).toEqual(['must be in canonical form ("2001:db8::/32")']);
  });

  it("lie strictly within larger ranges", () => {
    const within = (outer: string, inner: string): boolean => isWithin(looseRange(outer)!, looseRange(inner)!);
    expect(within("10.0.0.0/8", "10.1.0.0/16")).toBe(true);
    expect(within("10.0.0.0/8", "10.0.0.0/8")).toBe(false);
    expect(within("10.0.0.0/8", "11.0.0.0/16")).toBe(false);
    expect(within("::/0", "10.0.0.0/8")).toBe(false);
    expect(within("::ffff:0:0/96", "::ffff:1.2.3.0/120")).toBe(true);
  });

  it("of special ranges are recognised in any notation", () => {
    const why = (value: string): readonly string[] =>
      said((_value, path, errors) => specialAddress(value, path, errors), value);
    expect(why("0:0:0:0:0:0:0:1")).toEqual(["may not be in the loopback range (127.0.0.0/8, ::1/128)"]);
    expect(why("0:0::0")).toEqual(["may not be unspecified (0:0::0)"]);
    expect(why("FEBF::1")).toEqual(["may not be in the link-local range (169.254.0.0/16, fe80::/10)"]);
    expect(why("224.0.0.9")).toEqual(["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]);
    expect(why("224.0.1.9")).toEqual([]);
  });
});
