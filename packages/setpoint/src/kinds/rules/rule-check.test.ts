import { describe, expect, it } from "vitest";
import { z } from "zod";
import { k8s } from "../k8s.js";
import { resource } from "../resource.js";

const spec = z.object({
  replicas: z.int(),
  share: z.number().optional(),
  name: z.string().optional(),
  "dash-ed": z.string().optional(),
  namespace: z.string().optional(),
  ports: z.array(z.object({ name: z.string(), port: z.int() })).default([]),
  labels: z.record(z.string(), z.string()).default({}),
  target: z.union([z.int(), z.string()]).optional(),
  object: z.looseObject({}).meta(k8s.embeddedResource).optional(),
});

const declare = (rule: string, more: object = {}) =>
  resource("web.example.com/v1/Site", { spec: spec.meta(k8s.rules(k8s.rule(rule, "no", more))) });

describe("a CEL rule that compiles", () => {
  it.each([
    "self.replicas > 0 && self.replicas <= 10",
    "!has(self.name) || self.name.matches('^[a-z]+$')",
    "self.ports.all(p, p.port > 0 && self.ports.exists_one(q, q.name == p.name))",
    "self.ports.map(p, p.name).isSorted()",
    "self.labels.all(key, key.startsWith('a') && self.labels[key] != '')",
    "self.labels.exists(key, value, key == value)",
    "'a' in self.labels && self.labels.a == 'b'",
    "self.replicas == oldSelf.replicas",
    "self.replicas < 2.5",
    "self.__namespace__ == 'a' || self.dash__dash__ed == 'b'",
    "self.target == 5 || self.target == '50%'",
    "self.object.kind == 'Pod' && self.object.metadata.name != ''",
    "self.?name.orValue('x') == 'x'",
    'self.name == "a\\"b" // a comment',
    "(self.replicas > 1 ? self.name : 'none') == r'\\d'",
    "duration('1h') < duration(self.name) && timestamp(self.name).getFullYear() > 2000",
    "quantity(self.name).isLessThan(quantity('1Gi')) && isIP(self.name) && type(self.target) == int",
    "dyn(self.ports).size() > 0",
  ])("is accepted: %s", (rule) => {
    expect(() => declare(rule)).not.toThrow();
  });

  it("may use an optional oldSelf, and the metadata of the whole object", () => {
    declare("oldSelf.orValue(self).replicas == self.replicas", { optionalOldSelf: true });
    const rules = [k8s.rule("self.metadata.name.size() < 20 && self.spec.replicas > 0", "no")];
    resource("web.example.com/v1/Site", { spec, rules });
  });
});

describe("a CEL rule that does not compile is refused at the declaration, with its place", () => {
  it.each([
    ["self.replicas >", "1:16", "a value is expected, not the end"],
    ["self.replicas > 0 0", "1:19", "the end is expected, not '0'"],
    ["(self.replicas > 0", "1:19", "')' is expected"],
    ["self.replicas = 1", "1:15", "there is no meaning in"],
    ["self.name == 'a", "1:14", "there is no meaning in"],
    ["self.replica > 0", "1:5", "undefined field 'replica'"],
    ["self.ports.all(p,\n  p.prot > 0)", "2:4", "undefined field 'prot'"],
    ["has(self.nam)", "1:9", "undefined field 'nam'"],
    ["has(self)", "1:4", "invalid argument to has() macro"],
    ["spec.replicas > 0", "1:1", "undeclared reference to 'spec'"],
    ["self.name.length() > 3", "1:17", "undeclared reference to 'length'"],
    ["len(self.name) > 3", "1:4", "undeclared reference to 'len'"],
    ["self.replicas > '3'", "1:15", "found no matching overload for '_>_' applied to '(int, string)'"],
    ["self.replicas * 1.5 > 3.0", "1:15", "found no matching overload for '_*_' applied to '(int, double)'"],
    ["self.name == null", "1:11", "found no matching overload for '_==_' applied to '(string, null)'"],
    ["self.name.startsWith(1)", "1:21", "found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ["self.name.all(c, c == 'a')", "1:14", "expression of type 'string' cannot be range of a comprehension"],
    ["self.replicas", "1:1", "it gives int, not bool"],
    ["self.name.size().foo", "1:17", "type 'int' does not support field selection"],
  ])("%s", (rule, place, words) => {
    expect(() => declare(rule)).toThrow(
      expect.objectContaining({
        code: "KIND_INVALID",
        message: expect.stringContaining(`Site.spec: the rule ${JSON.stringify(rule)} is wrong at ${place}: ${words}`),
      }),
    );
  });

  it("including one in a message, and within lists and maps", () => {
    expect(() => declare("true", { messageExpression: "'is ' + self.replicas" })).toThrow(
      "the messageExpression \"'is ' + self.replicas\" is wrong at 1:7",
    );
    const port = z.object({ port: z.int() }).meta(k8s.rules(k8s.rule("self.prot > 0", "no")));
    const nested = z.object({ ports: z.array(port), named: z.record(z.string(), z.int()) });
    expect(() => resource("web.example.com/v1/Site", { spec: nested })).toThrow("Site.spec.ports[]: the rule");
  });
});
