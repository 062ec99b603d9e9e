import { plain, type RuleType } from "./rule-type.js";

/** One way to call a function. The object of a method is its first parameter. */
export interface Overload {
  readonly isMethod: boolean;
  readonly parameters: readonly RuleType[];
  readonly result: RuleType;
}

const ORDERED = "int uint double string bool bytes timestamp duration".split(" ");
const NUMBERS = "int uint double".split(" ");
const URL = "kubernetes.URL";
const QUANTITY = "kubernetes.Quantity";
const SEMVER = "kubernetes.Semver";
const FORMAT = "kubernetes.NamedFormat";

/** A name and the types that it takes and, last, gives, in every way to call it; a point begins those of methods. */
type Line = readonly [names: string, ...overloads: string[]];

const LINES: readonly Line[] = [
  ["_?_:_", "bool A A A"],
  ["_&&_ _||_", "bool bool bool"],
  ["!_", "bool bool"],
  ["_==_ _!=_", "A A bool"],
  [
    "_<_ _<=_ _>_ _>=_",
    ...ORDERED.map((type) => `${type} ${type} bool`),
    ...NUMBERS.flatMap((left) => NUMBERS.filter((right) => right !== left).map((right) => `${left} ${right} bool`)),
  ],
  ["_+_", "bytes bytes bytes", "duration timestamp timestamp", "list(A) list(A) list(A)", "string string string"],
  ["_+_ _-_", "duration duration duration", "timestamp duration timestamp"],
  ["_-_", "timestamp timestamp duration"],
  ["_+_ _-_ _*_ _/_", ...NUMBERS.map((type) => `${type} ${type} ${type}`)],
  ["_%_", "int int int", "uint uint uint"],
  ["-_", "double double", "int int"],
  ["_in_", "A list(A) bool", "A map(A,B) bool"],
  ["_[_]", "list(A) int A", "map(A,B) A B"],
  ["_[_]", "optional_type(list(A)) int optional_type(A)", "optional_type(map(A,B)) A optional_type(B)"],
  ["_[?_]", "list(A) int optional_type(A)", "map(A,B) A optional_type(B)"],
  ["_[?_]", "optional_type(list(A)) int optional_type(A)", "optional_type(map(A,B)) A optional_type(B)"],
  ["bool", "bool bool", "string bool"],
  ["bytes", "bytes bytes", "string bytes"],
  ["double", "double double", "int double", "string double", "uint double"],
  ["duration", "duration duration", "int duration", "string duration"],
  ["dyn", "A dyn"],
  ["int", ...["int", "double", "duration", "string", "timestamp", "uint"].map((type) => `${type} int`)],
  ["string", ...[...ORDERED, "net.IP", "net.CIDR"].map((type) => `${type} string`)],
  ["timestamp", "timestamp timestamp", "int timestamp", "string timestamp"],
  ["type", "A type(A)"],
  ["uint", "uint uint", "double uint", "int uint", "string uint"],
  ["size", ...["bytes", "list(A)", "map(A,B)", "string"].flatMap((type) => [`${type} int`, `.${type} int`])],
  ["contains startsWith endsWith matches", ".string string bool"],
  ["matches", "string string bool"],
  ["find", ".string string string"],
  ["findAll split", ".string string list(string)", ".string string int list(string)"],
  ["charAt", ".string int string"],
  ["lowerAscii upperAscii trim", ".string string"],
  ["substring", ".string int string", ".string int int string"],
  ["replace", ".string string string string", ".string string string int string"],
  ["join", ".list(string) string", ".list(string) string string"],
  ["strings.quote", "string string"],
  ["format", ".string list(dyn) string"],
  ["isSorted", ...ORDERED.map((type) => `.list(${type}) bool`)],
  ["sum", ...[...NUMBERS, "duration"].map((type) => `.list(${type}) ${type}`)],
  ["min max", ...ORDERED.map((type) => `.list(${type}) ${type}`)],
  ["indexOf lastIndexOf", ".list(A) A int", ".string string int", ".string string int int"],
  ["slice", ".list(A) int int list(A)"],
  ["flatten", ".list(list(A)) list(A)", ".list(dyn) int list(dyn)"],
  ["sort", ...ORDERED.map((type) => `.list(${type}) list(${type})`)],
  ["reverse distinct", ".list(A) list(A)"],
  ["lists.range", "int list(int)"],
  ["sets.contains sets.intersects sets.equivalent", "list(A) list(A) bool"],
  ["getFullYear getMonth getDayOfYear getDayOfMonth getDate getDayOfWeek", ".timestamp int", ".timestamp string int"],
  ["getHours getMinutes getSeconds getMilliseconds", ".timestamp int", ".timestamp string int", ".duration int"],
  ["optional.of optional.ofNonZeroValue", "A optional_type(A)"],
  ["optional.none", "optional_type(A)"],
  ["optional.unwrap", "list(optional_type(A)) list(A)"],
  ["unwrapOpt", ".list(optional_type(A)) list(A)"],
  ["hasValue", ".optional_type(A) bool"],
  ["value", ".optional_type(A) A"],
  ["or", ".optional_type(A) optional_type(A) optional_type(A)"],
  ["orValue", ".optional_type(A) A A"],
  ["first last", ".list(A) optional_type(A)"],
  ["url", `string ${URL}`],
  ["isURL isQuantity isIP isCIDR isSemver ip.isCanonical", "string bool"],
  ["getScheme getHost getHostname getPort getEscapedPath", `.${URL} string`],
  ["getQuery", `.${URL} map(string,list(string))`],
  ["quantity", `string ${QUANTITY}`],
  ["sign", `${QUANTITY} int`],
  ["asApproximateFloat", `.${QUANTITY} double`],
  ["asInteger", `.${QUANTITY} int`],
  ["isInteger", `.${QUANTITY} bool`],
  ["add sub", `.${QUANTITY} ${QUANTITY} ${QUANTITY}`, `.${QUANTITY} int ${QUANTITY}`],
  ["semver", `string ${SEMVER}`, `string bool ${SEMVER}`],
  ["isSemver", "string bool bool"],
  ["major minor patch", `.${SEMVER} int`],
  ["isGreaterThan isLessThan", `.${QUANTITY} ${QUANTITY} bool`, `.${SEMVER} ${SEMVER} bool`],
  ["compareTo", `.${QUANTITY} ${QUANTITY} int`, `.${SEMVER} ${SEMVER} int`],
  ["ip", "string net.IP", ".net.CIDR net.IP"],
  ["cidr", "string net.CIDR"],
  ["family", ".net.IP int"],
  ["isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast", ".net.IP bool"],
  ["containsIP", ".net.CIDR string bool", ".net.CIDR net.IP bool"],
  ["containsCIDR", ".net.CIDR string bool", ".net.CIDR net.CIDR bool"],
  ["prefixLength", ".net.CIDR int"],
  ["masked", ".net.CIDR net.CIDR"],
  [
    "dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix dns1035LabelPrefix labelValue uri uuid byte date datetime".replace(
      /\S+/g,
      "format.$&",
    ),
    FORMAT,
  ],
  ["format.named", `string optional_type(${FORMAT})`],
  ["validate", `.${FORMAT} string optional_type(list(string))`],
];

/** The functions and operators that rules of Kubernetes 1.36 may use. */
export function ruleFunctions(): ReadonlyMap<string, readonly Overload[]> {
  const functions = new Map<string, Overload[]>();
  for (const [names, ...texts] of LINES) {
    const overloads = texts.map(overloadOf);
    for (const name of names.split(" ")) functions.set(name, [...(functions.get(name) ?? []), ...overloads]);
  }
  return functions;
}

function overloadOf(text: string): Overload {
  const isMethod = text.startsWith(".");
  const types = (isMethod ? text.slice(1) : text).split(" ").map(typeOfText);
  return { isMethod, parameters: types.slice(0, -1), result: types.at(-1)! };
}

/** `map(string,list(A))` */
function typeOfText(text: string): RuleType {
  const open = text.indexOf("(");
  if (open < 0) return plain(text);
  const parts: string[] = [""];
  let depth = 0;
  for (const character of text.slice(open + 1, -1)) {
    if (character === "," && depth === 0) parts.push("");
    else parts.push(`${parts.pop()}${character}`);
    depth += character === "(" ? 1 : character === ")" ? -1 : 0;
  }
  return plain(text.slice(0, open), ...parts.map(typeOfText));
}
