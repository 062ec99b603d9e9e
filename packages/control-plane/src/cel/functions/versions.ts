import { goQuote } from "../../api/go-format.js";
import { BOOL, INT, STRING, struct } from "../types/type.js";
import { type CelValue, Failure, OpaqueValue } from "../values/value.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";
import { quantityOrderOverloads } from "./quantities.js";
import { NOMINAL, readingText } from "./text-cost.js";

const SEMVER = struct("kubernetes.Semver");

class SemverValue extends OpaqueValue {
  readonly type = SEMVER;
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly #prerelease: readonly (string | bigint)[];

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly (string | bigint)[]) {
    super();
    this.numbers = numbers;
    this.#prerelease = prerelease;
  }

  equals(other: OpaqueValue): boolean {
    return this.order(other) === 0n;
  }

  /** Ignores build metadata. A prerelease comes before its release. */
  order(other: CelValue): bigint {
    const { numbers } = other as SemverValue;
    for (const [index, number] of this.numbers.entries()) {
      if (number !== numbers[index]) return number > numbers[index]! ? 1n : -1n;
    }
    const [own, others] = [this.#prerelease, (other as SemverValue).#prerelease];
    if (own.length === 0 || others.length === 0) return BigInt(Number(own.length === 0) - Number(others.length === 0));
    for (const [index, part] of own.entries()) {
      const against = others[index];
      if (against === undefined) return 1n;
      if (part === against) continue;
      if (typeof part !== typeof against) return typeof part === "bigint" ? -1n : 1n;
      return part > against ? 1n : -1n;
    }
    return own.length < others.length ? -1n : 0n;
  }
}

export const versions: readonly FunctionDeclaration[] = [
  declare(
    "semver",
    [
      overload("string_to_semver", [STRING], SEMVER, (text) => semverOf(text as string)),
      overload("string_bool_to_semver", [STRING, BOOL], SEMVER, given),
    ],
    { cost: readingText(1) },
  ),
  declare(
    "isSemver",
    [
      overload("is_semver_string", [STRING], BOOL, (text) => !(semverOf(text as string) instanceof Failure)),
      overload("is_semver_string_bool", [STRING, BOOL], BOOL, (text, isNormalized) => {
        return !(given(text!, isNormalized!) instanceof Failure);
      }),
    ],
    { cost: readingText(1) },
  ),
  ...["major", "minor", "patch"].map((name, index) =>
    declare(name, [method(`semver_${name}`, [SEMVER], INT, (version) => (version as SemverValue).numbers[index]!)], {
      cost: NOMINAL,
    }),
  ),
  declare(
    "isGreaterThan",
    [
      ...quantityOrderOverloads.isGreaterThan,
      method("semver_is_greater_than", [SEMVER, SEMVER], BOOL, (a, b) => (a as SemverValue).order(b!) > 0n),
    ],
    { cost: NOMINAL },
  ),
  declare(
    "isLessThan",
    [
      ...quantityOrderOverloads.isLessThan,
      method("semver_is_less_than", [SEMVER, SEMVER], BOOL, (a, b) => (a as SemverValue).order(b!) < 0n),
    ],
    { cost: NOMINAL },
  ),
  declare(
    "compareTo",
    [
      ...quantityOrderOverloads.compareTo,
      method("semver_compare_to", [SEMVER, SEMVER], INT, (a, b) => (a as SemverValue).order(b!)),
    ],
    { cost: NOMINAL },
  ),
];

function given(text: CelValue, isNormalized: CelValue): CelValue {
  const normal = isNormalized === true ? normalized(text as string) : (text as string);
  return normal instanceof Failure ? normal : semverOf(normal);
}

function normalized(text: string): string | Failure {
  const parts = splitInThree(text.replace(/^v/, "")).map((part) => {
    if (part.length <= 1) return part;
    const rest = part.replace(/^0+/, "");
    return /^\d/.test(rest) ? rest : `0${rest}`;
  });
  if (parts.length === 3) return parts.join(".");
  if (/[+-]/.test(parts.at(-1)!)) return new Failure("short version cannot contain PreRelease/Build meta data");
  return [...parts, "0", "0"].slice(0, 3).join(".");
}

function splitInThree(text: string): string[] {
  const [major = "", minor, ...rest] = text.split(".");
  return [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join(".")])];
}

function semverOf(text: string): SemverValue | Failure {
  if (text === "") return new Failure("Version string empty");
  const [major = "", minor = "", rest] = splitInThree(text);
  if (rest === undefined) return new Failure("No Major.Minor.Patch elements found");
  const [, patch = "", , prerelease, , build] = /^([^+-]*)(-([^+]*))?(\+(.*))?$/s.exec(rest) ?? [];
  const numbers: bigint[] = [];
  for (const [name, digits] of [
    ["major", major],
    ["minor", minor],
    ["patch", patch],
  ] as const) {
    if (!/^\d*$/.test(digits)) return new Failure(`Invalid character(s) found in ${name} number ${goQuote(digits)}`);
    if (/^0\d/.test(digits)) {
      const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      return new Failure(`${title} number must not contain leading zeroes ${goQuote(digits)}`);
    }
    const number = digits === "" ? undefined : BigInt(digits);
    if (number === undefined || BigInt.asUintN(64, number) !== number) {
      const why = number === undefined ? "invalid syntax" : "value out of range";
      return new Failure(`strconv.ParseUint: parsing ${goQuote(digits)}: ${why}`);
    }
    numbers.push(number);
  }
  const parts = prerelease === undefined ? [] : prereleaseOf(prerelease);
  if (parts instanceof Failure) return parts;
  for (const part of build?.split(".") ?? []) {
    if (part === "") return new Failure("Build meta data is empty");
    if (!/^[0-9A-Za-z-]+$/.test(part))
      return new Failure(`Invalid character(s) found in build meta data ${goQuote(part)}`);
  }
  return new SemverValue(numbers as [bigint, bigint, bigint], parts);
}

function prereleaseOf(text: string): readonly (string | bigint)[] | Failure {
  const parts: (string | bigint)[] = [];
  for (const part of text.split(".")) {
    if (part === "") return new Failure("Prerelease is empty");
    if (/^\d+$/.test(part)) {
      if (/^0\d/.test(part)) {
        return new Failure(`Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`);
      }
      parts.push(BigInt(part));
    } else if (/^[0-9A-Za-z-]+$/.test(part)) parts.push(part);
    else return new Failure(`Invalid character(s) found in prerelease ${goQuote(part)}`);
  }
  return parts;
}
