import type { JsonObject } from "../api/json.js";
import type { Dice } from "../apply/random-writes.testing.js";
import type { Schema } from "../facts/schema.js";

/** A schema with a field for every kind of type, with limits so that most rules on it are cheap enough. */
export const RANDOM_SCHEMA: Schema = {
  type: "object",
  properties: {
    i: { type: "integer" },
    j: { type: "integer" },
    d: { type: "number" },
    s: { type: "string", maxLength: 20 },
    t: { type: "string", maxLength: 20 },
    b: { type: "boolean" },
    li: { type: "array", maxItems: 5, items: { type: "integer" } },
    ls: { type: "array", maxItems: 5, items: { type: "string", maxLength: 10 } },
    m: { type: "object", maxProperties: 5, additionalProperties: { type: "string", maxLength: 10 } },
    x: { "x-kubernetes-int-or-string": true, maxLength: 10 },
    when: { type: "string", format: "date-time" },
    span: { type: "string", format: "duration" },
    data: { type: "string", format: "byte", maxLength: 20 },
    o: { type: "object", properties: { a: { type: "string", maxLength: 10 }, b: { type: "integer" } } },
    set: { type: "array", maxItems: 5, "x-kubernetes-list-type": "set", items: { type: "string", maxLength: 10 } },
    lm: {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: { k: { type: "string", maxLength: 10 }, v: { type: "integer" } },
      },
    },
  },
} as Schema;

type Kind = "bool" | "int" | "double" | "string" | "ints" | "strings" | "time" | "span" | "bytes" | "map";

/** Mostly valid expressions: now and then a part has the wrong type. */
export class RandomExpressions {
  readonly #dice: Dice;
  /** Loop variables, by type. */
  readonly #locals: [name: string, kind: Kind][] = [];
  #count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A rule. */
  rule(): string {
    return this.#of("bool", 3);
  }

  #of(wanted: Kind, depth: number): string {
    const kind = this.#dice.oneIn(50) ? this.#dice.pick<Kind>(["bool", "int", "double", "string", "ints"]) : wanted;
    const local = this.#locals.filter(([, of]) => of === kind);
    if (local.length > 0 && !this.#dice.oneIn(2)) return this.#dice.pick(local)[0];
    if (depth <= 0) return this.#leaf(kind);
    return this.#dice.pick(this.#forms(kind, depth - 1))();
  }

  #leaf(kind: Kind): string {
    const leaves: Readonly<Record<Kind, readonly string[]>> = {
      bool: ["self.b", "true", "false", "has(self.o)", "has(self.o.a)", "has(self.x)"],
      int: ["self.i", "self.j", "0", "1", "-3", "7", "self.o.b", "size(self.s)", "self.li.size()"],
      double: ["self.d", "1.5", "-0.25", "double(self.i)"],
      string: ["self.s", "self.t", "'a'", "'abc'", "''", "'ö'", "self.o.a", "string(self.i)"],
      ints: ["self.li", "[1, 2, 3]", "[]", "[self.i]"],
      strings: ["self.ls", "self.set", "['a', 'b']", "self.m.map(k, k).sort()", "self.lm.map(e, e.k)"],
      time: ["self.when", "timestamp('2024-02-29T10:00:00Z')"],
      span: ["self.span", "duration('90m')", "duration('1.5s')"],
      bytes: ["self.data", "b'abc'", "bytes(self.s)"],
      map: ["self.m", "{'a': 'b'}", "{}"],
    };
    return this.#dice.pick(leaves[kind]);
  }

  #forms(kind: Kind, depth: number): readonly (() => string)[] {
    const of = (part: Kind): string => this.#of(part, depth);
    const pick = (...options: string[]): string => this.#dice.pick(options);
    const relation = (part: Kind) => () => `${of(part)} ${pick("==", "!=", "<", "<=", ">", ">=")} ${of(part)}`;
    const sameness = (part: Kind) => () => `${of(part)} ${pick("==", "!=")} ${of(part)}`;
    const choice = () => `(${of("bool")} ? ${of(kind)} : ${of(kind)})`;
    switch (kind) {
      case "bool":
        return [
          relation("int"),
          relation("double"),
          relation("string"),
          relation("time"),
          relation("span"),
          relation("bytes"),
          sameness("ints"),
          sameness("strings"),
          sameness("map"),
          () => `(${of("bool")} ${pick("&&", "||")} ${of("bool")})`,
          () => `!(${of("bool")})`,
          () => `${of("string")}.${pick("startsWith", "endsWith", "contains")}(${of("string")})`,
          () => `${of("string")}.matches('${pick("^[a-z]+$", "a.*", "(b|c)+", "[0-9]")}')`,
          () => this.#loop(of("ints"), "int", pick("all", "exists", "exists_one"), "bool", depth),
          () => this.#loop(of("strings"), "string", pick("all", "exists", "exists_one"), "bool", depth),
          () => this.#loop(of("map"), "string", pick("all", "exists"), "bool", depth),
          () => `${of("int")} in ${of("ints")}`,
          () => `${of("string")} in ${of("strings")}`,
          () => `${of("string")} in ${of("map")}`,
          () => `${of("ints")}.isSorted()`,
          () => `sets.${pick("contains", "intersects", "equivalent")}(${of("ints")}, ${of("ints")})`,
          () => `self.x ${pick("==", "!=")} ${pick(of("int"), of("string"))}`,
          () => `type(self.x) == ${pick("int", "string")}`,
          () => `self.?o.${pick("?a.hasValue()", "?b.orValue(3) > 2")}`,
          () => `self.lm.exists(e, e.k == ${of("string")} && e.v > ${of("int")})`,
          () => `self.lm == self.lm`,
          () => `isQuantity(${of("string")}) || isIP(${of("string")}) || isSemver(${of("string")})`,
          choice,
        ];
      case "int":
        return [
          () => `(${of("int")} ${pick("+", "-", "*", "/", "%")} ${of("int")})`,
          () => `${of("string")}.size()`,
          () => `size(${of(pick("ints", "strings", "map", "bytes") as Kind)})`,
          () => `${of("string")}.${pick("indexOf", "lastIndexOf")}(${of("string")})`,
          () => `${of("ints")}.${pick("sum", "min", "max")}()`,
          () => `${of("ints")}.indexOf(${of("int")})`,
          () => `${of("ints")}[${of("int")}]`,
          () => `int(${of(pick("double", "string", "span") as Kind)})`,
          () => `${of("time")}.${pick("getFullYear", "getMonth", "getDate", "getHours", "getDayOfYear")}()`,
          () => `${of("span")}.${pick("getHours", "getMinutes", "getSeconds")}()`,
          () => `${of("ints")}[?${of("int")}].orValue(${of("int")})`,
          () => `-(${of("int")})`,
          choice,
        ];
      case "double":
        return [
          () => `(${of("double")} ${pick("+", "-", "*", "/")} ${of("double")})`,
          () => `double(${of(pick("int", "string") as Kind)})`,
          choice,
        ];
      case "string":
        return [
          () => `(${of("string")} + ${of("string")})`,
          () => `${of("string")}.${pick("lowerAscii", "upperAscii", "trim")}()`,
          () => `${of("string")}.replace(${of("string")}, ${of("string")})`,
          () => `${of("string")}.substring(${of("int")})`,
          () => `${of("string")}.charAt(${of("int")})`,
          () => `${of("strings")}.join(${of("string")})`,
          () => `string(${of(pick("int", "double", "bool", "span", "time", "bytes") as Kind)})`,
          () => `${of("map")}[${of("string")}]`,
          () => `${of("map")}[?${of("string")}].orValue(${of("string")})`,
          () => `${of("string")}.find('[a-c]+')`,
          () => `'%s-%d'.format([${of("string")}, ${of("int")}])`,
          () => `strings.quote(${of("string")})`,
          choice,
        ];
      case "ints":
        return [
          () => `(${of("ints")} + ${of("ints")})`,
          () => `[${of("int")}, ${of("int")}]`,
          () => this.#loop(of("ints"), "int", "map", "int", depth),
          () => this.#loop(of("ints"), "int", "filter", "bool", depth),
          () => this.#loop(of("strings"), "string", "map", "int", depth),
          () => `${of("ints")}.${pick("sort", "reverse", "distinct")}()`,
          () => `lists.range(${pick("0", "3", "5")})`,
          choice,
        ];
      case "strings":
        return [
          () => `(${of("strings")} + ${of("strings")})`,
          () => `${of("string")}.split(${of("string")})`,
          () => this.#loop(of("strings"), "string", "map", "string", depth),
          () => this.#loop(of("strings"), "string", "filter", "bool", depth),
          () => `${of("strings")}.${pick("sort", "reverse", "distinct")}()`,
          choice,
        ];
      case "time":
        return [() => `(${of("time")} ${pick("+", "-")} ${of("span")})`, () => `timestamp(${of("int")})`, choice];
      case "span":
        return [
          () => `(${of("span")} ${pick("+", "-")} ${of("span")})`,
          () => `(${of("time")} - ${of("time")})`,
          choice,
        ];
      case "bytes":
        return [() => `(${of("bytes")} + ${of("bytes")})`, () => `bytes(${of("string")})`, choice];
      case "map":
        return [() => `{${of("string")}: ${of("string")}}`, choice];
    }
  }

  #loop(range: string, item: Kind, macro: string, body: Kind, depth: number): string {
    const name = `v${this.#count++}`;
    this.#locals.push([name, item]);
    const inner = this.#of(body, depth);
    this.#locals.pop();
    return `${range}.${macro}(${name}, ${inner})`;
  }
}

/** A value of the schema; any field may be missing. */
export function randomSelf(dice: Dice): JsonObject {
  const text = (): string => dice.pick(["", "a", "abc", "b-c", "Ö x", "12", "hello world", "1.2.3", "10Mi"]);
  const number = (): number => dice.pick([0, 1, -1, 2, 3, 7, 42, -5]);
  const texts = (): string[] => [
    ...new Set(Array.from({ length: dice.pick([0, 1, 2, 3]) }, () => text().slice(0, 10))),
  ];
  const fields: JsonObject = {
    i: number(),
    j: number(),
    d: dice.pick([0, 1.5, -2.25, 3, 1e10]),
    s: text(),
    t: text(),
    b: dice.oneIn(2),
    li: Array.from({ length: dice.pick([0, 1, 3, 5]) }, number),
    ls: texts(),
    m: Object.fromEntries(texts().map((key) => [key, text().slice(0, 10)])),
    x: dice.pick<number | string>([1, 5, "a", "50%"]),
    when: dice.pick(["2024-02-29T12:34:56.789Z", "1999-12-31T23:59:59Z", "2020-06-01T00:00:00+02:00"]),
    span: dice.pick(["1h30m", "0s", "250ms", "-5s"]),
    data: dice.pick(["aGVsbG8=", "YQ==", "YWJj"]),
    o: dice.pick<JsonObject>([{}, { a: "q" }, { a: "", b: 3 }]),
    set: texts(),
    lm: texts().map((k) => ({ k, v: number() })),
  };
  return Object.fromEntries(Object.entries(fields).filter(() => !dice.oneIn(10)));
}
