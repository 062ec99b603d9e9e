import type { Overload } from "./rule-functions.js";
import { RuleProblem, ruleTokens, type Token } from "./rule-tokens.js";
import { bindType, DYN, fieldType, fits, plain, type RuleType, typeText } from "./rule-type.js";

const RESERVED =
  /^(as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while|in)$/;
const LITERALS: Readonly<Record<string, string>> = { true: "bool", false: "bool", null: "null" };
const TYPES =
  /^(bool|bytes|double|int|string|uint|null_type|dyn|list|map|type|optional_type|net\.(IP|CIDR)|google\.protobuf\.(Timestamp|Duration))$/;
/** Methods that bind names, by their number of arguments, and how many names that is. */
const MACROS: ReadonlyMap<string, number> = new Map([
  ...["all/2", "exists/2", "exists_one/2", "map/2", "map/3", "filter/2", "optMap/2", "optFlatMap/2", "sortBy/2"].map(
    (name) => [name, 1] as const,
  ),
  ...["all/3", "exists/3", "exists_one/3", "existsOne/3"].map((name) => [name, 2] as const),
  ...["List", "Map", "MapEntry"].flatMap((of) => [3, 4].map((count) => [`transform${of}/${count}`, 2] as const)),
]);
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!=", "<", "<=", ">", ">=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Parses and checks one rule: each part has a type as soon as it is read, and no tree is kept. */
export class RuleCompiler {
  readonly #functions: ReadonlyMap<string, readonly Overload[]>;
  readonly #variables: Map<string, RuleType>;
  readonly #tokens: readonly Token[];
  #next = 0;
  /** Whether what was read last is a field, as `has` needs it. */
  #isField = false;

  constructor(
    text: string,
    functions: ReadonlyMap<string, readonly Overload[]>,
    variables: Readonly<Record<string, RuleType>>,
  ) {
    this.#tokens = ruleTokens(text);
    this.#functions = functions;
    this.#variables = new Map(Object.entries(variables));
  }

  /** The type of the whole. Throws `RuleProblem`. */
  compile(): RuleType {
    const type = this.#expression();
    if (this.#token.type !== "end") throw this.#unexpected("the end");
    return type;
  }

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  #unexpected(wanted: string): RuleProblem {
    const { type, text, at } = this.#token;
    return new RuleProblem(`${wanted} is expected, not ${type === "end" ? text : `'${text}'`}`, at);
  }

  #take(sign: string): boolean {
    const { type, text } = this.#token;
    const isTaken = text === sign && (type === "sign" || sign === "in");
    if (isTaken) this.#next++;
    return isTaken;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#unexpected(`'${sign}'`);
  }

  #name(): string {
    const { type, text } = this.#token;
    if (type !== "name" || Object.hasOwn(LITERALS, text) || text === "in") throw this.#unexpected("a name");
    this.#next++;
    return text;
  }

  #expression(): RuleType {
    const condition = this.#level(0);
    const { at } = this.#token;
    if (!this.#take("?")) return condition;
    const yes = this.#level(0);
    this.#expect(":");
    return this.#call("_?_:_", at, [condition, yes, this.#expression()]);
  }

  #level(level: number): RuleType {
    const signs = LEVELS[level];
    if (!signs) return this.#unary();
    let left = this.#level(level + 1);
    for (;;) {
      const { at } = this.#token;
      const sign = signs.find((each) => this.#take(each));
      if (sign === undefined) return left;
      left = this.#call(`_${sign}_`, at, [left, this.#level(level + 1)]);
    }
  }

  #unary(): RuleType {
    const { at, text } = this.#token;
    if (!this.#take("!") && !this.#take("-")) return this.#member();
    let count = 1;
    while (this.#take(text)) count++;
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(`${text}_`, at, [operand]);
  }

  #member(): RuleType {
    let type = this.#primary();
    for (;;) {
      const { at } = this.#token;
      if (this.#take(".")) type = this.#afterPoint(type, at);
      else if (this.#take("[")) {
        const name = this.#take("?") ? "_[?_]" : "_[_]";
        const index = this.#expression();
        this.#expect("]");
        type = this.#call(name, at, [type, index]);
      } else return type;
    }
  }

  #afterPoint(target: RuleType, at: number): RuleType {
    const isOptional = this.#take("?");
    const name = this.#name();
    const open = this.#token;
    if (!isOptional && this.#take("(")) {
      const bindings = MACROS.get(`${name}/${this.#argumentCount()}`);
      if (bindings !== undefined) return this.#macro(name, target, bindings, open.at);
      return this.#call(name, open.at, [target, ...this.#arguments()], true);
    }
    const type = fieldType(target, name);
    if (!type) {
      const isObject = target.schema !== undefined || target.of[0]?.schema !== undefined;
      const why = isObject
        ? `undefined field '${name}'`
        : `type '${typeText(target)}' does not support field selection`;
      throw new RuleProblem(why, at);
    }
    this.#isField = !isOptional;
    return isOptional && type.name !== "optional_type" ? plain("optional_type", type) : type;
  }

  /** How many arguments stand before the bracket that closes. */
  #argumentCount(): number {
    let [depth, count] = [1, this.#token.text === ")" ? 0 : 1];
    for (let at = this.#next; depth > 0 && at < this.#tokens.length; at++) {
      const { type, text } = this.#tokens[at]!;
      if (type !== "sign") continue;
      if ("([{".includes(text)) depth++;
      else if (")]}".includes(text)) depth--;
      else if (text === "," && depth === 1) count++;
    }
    return count;
  }

  #arguments(): readonly RuleType[] {
    const types: RuleType[] = [];
    if (this.#take(")")) return types;
    do types.push(this.#expression());
    while (this.#take(","));
    this.#expect(")");
    return types;
  }

  #macro(name: string, target: RuleType, bindings: number, at: number): RuleType {
    const names: string[] = [];
    while (names.length < bindings) {
      names.push(this.#name());
      this.#expect(",");
    }
    const items = name.startsWith("opt") ? [target.of[0] ?? DYN] : itemsOf(target, bindings, at);
    const hidden = names.map((each) => [each, this.#variables.get(each)] as const);
    for (const [index, each] of names.entries()) this.#variables.set(each, items[index] ?? DYN);
    const parts = this.#arguments();
    for (const [each, before] of hidden) {
      if (before) this.#variables.set(each, before);
      else this.#variables.delete(each);
    }
    const isTest = /^(all|exists|filter)/.test(name);
    const conditions = isTest ? parts : parts.slice(0, -1);
    for (const part of conditions) this.#call("_&&_", at, [part, plain("bool")]);
    this.#isField = false;
    const body = parts.at(-1) ?? DYN;
    if (name === "filter") return plain("list", items[0] ?? DYN);
    if (isTest) return plain("bool");
    if (name === "sortBy" || name === "optFlatMap") return name === "sortBy" ? target : body;
    if (name === "optMap") return plain("optional_type", body);
    if (name === "map" || name === "transformList") return plain("list", body);
    return name === "transformMap" ? plain("map", items[0] ?? DYN, body) : plain("map", DYN, DYN);
  }

  #primary(): RuleType {
    const { type, text, at } = this.#token;
    this.#isField = false;
    if (type === "name") return this.#named(at);
    if (this.#take("(")) {
      const inner = this.#expression();
      this.#expect(")");
      return inner;
    }
    if (this.#take("[")) return plain("list", common(this.#separated("]", () => this.#expression())));
    if (this.#take("{")) return this.#map();
    if (this.#take(".")) return this.#named(this.#token.at);
    if (type === "end" || type === "sign") throw this.#unexpected("a value");
    this.#next++;
    const isTooLarge = type === "int" && BigInt(text) > 2n ** 63n;
    if (isTooLarge) throw new RuleProblem("invalid int literal", at);
    return plain(type);
  }

  #map(): RuleType {
    const keys: RuleType[] = [];
    const values = this.#separated("}", () => {
      keys.push(this.#expression());
      this.#expect(":");
      return this.#expression();
    });
    return plain("map", common(keys), common(values));
  }

  #separated(end: string, item: () => RuleType): readonly RuleType[] {
    const types: RuleType[] = [];
    while (!this.#take(end)) {
      // An optional item is there or not: its type is that of its content.
      const isOptional = this.#take("?");
      const type = item();
      types.push(isOptional ? (type.of[0] ?? DYN) : type);
      if (!this.#take(",")) {
        this.#expect(end);
        break;
      }
    }
    return types;
  }

  /** A literal, a variable, a type, or a function, whose name may have several parts. */
  #named(at: number): RuleType {
    const { text } = this.#token;
    if (Object.hasOwn(LITERALS, text)) {
      this.#next++;
      return plain(LITERALS[text]!);
    }
    const first = this.#name();
    if (RESERVED.test(first)) throw new RuleProblem(`reserved identifier: ${first}`, at);
    const variable = this.#variables.get(first);
    const open = this.#token;
    if (variable && open.text !== "(") return variable;
    let name = first;
    const { length } = this.#tokens;
    for (let end = this.#next; end < length; end += 2) {
      const after = this.#tokens[end]!;
      if (after.text === "(" && (name === "has" || this.#functions.has(name))) {
        this.#next = end + 1;
        return this.#function(name, after.at);
      }
      if (after.text !== "." && TYPES.test(name)) {
        this.#next = end;
        return plain("type", DYN);
      }
      if (after.text !== "." || this.#tokens[end + 1]?.type !== "name") break;
      name = `${name}.${this.#tokens[end + 1]!.text}`;
    }
    throw new RuleProblem(`undeclared reference to '${first}'`, open.text === "(" ? open.at : at);
  }

  #function(name: string, at: number): RuleType {
    const args = this.#arguments();
    if (name !== "has") return this.#call(name, at, args);
    if (args.length !== 1 || !this.#isField) throw new RuleProblem("invalid argument to has() macro", at);
    this.#isField = false;
    return plain("bool");
  }

  /** The type of what a function or an operator gives. */
  #call(name: string, at: number, args: readonly RuleType[], isMethod = false): RuleType {
    this.#isField = false;
    const overloads = this.#functions.get(name);
    if (!overloads) throw new RuleProblem(`undeclared reference to '${name}'`, at);
    const results = overloads.flatMap((overload) => {
      const { parameters, result } = overload;
      const bound = new Map<string, RuleType>();
      const isMeant = overload.isMethod === isMethod && parameters.length === args.length;
      return isMeant && parameters.every((each, index) => fits(each, args[index]!, bound))
        ? [bindType(result, bound)]
        : [];
    });
    if (results.length > 0) return common(results);
    const [target, ...rest] = args.map(typeText);
    const signature = isMethod ? `${target}.(${rest.join(", ")})` : `(${args.map(typeText).join(", ")})`;
    throw new RuleProblem(`found no matching overload for '${name}' applied to '${signature}'`, at);
  }
}

/** What a loop over a value binds to its names. */
function itemsOf({ name, of }: RuleType, bindings: number, at: number): readonly RuleType[] {
  if (name === "dyn") return [DYN, DYN];
  if (name === "list") return bindings === 1 ? of : [plain("int"), ...of];
  if (name === "map") return of;
  const why = `expression of type '${name}' cannot be range of a comprehension (must be list, map, or dynamic)`;
  throw new RuleProblem(why, at);
}

/** The type that all of them are; `dyn` where they differ, or there are none. */
function common(types: readonly RuleType[]): RuleType {
  const [first, ...others] = types;
  return first && others.every((each) => typeText(each) === typeText(first)) ? first : DYN;
}
