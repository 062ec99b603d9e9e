import { label1035Name, labelName, labelValue, qualifiedName, subdomainName } from "setpoint/kinds";
import { formatCheck } from "../../schema/format.js";
import { listOf, optionalOf, STRING, struct } from "../types/type.js";
import { ListValue } from "../values/collection.js";
import { parseUrl, UrlError } from "../values/url.js";
import { OpaqueValue, Optional } from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";
import { NOMINAL, PATTERN_FACTOR, TEXT_FACTOR } from "./text-cost.js";

const FORMAT = struct("kubernetes.NamedFormat");
const LONGEST_PATTERN = 128;

/** A named format to validate text against. */
class FormatValue extends OpaqueValue {
  readonly type = FORMAT;
  readonly name: string;
  readonly complaints: (text: string) => readonly string[];
  readonly patternLength: number;

  constructor(name: string, patternLength: number, complaints: (text: string) => readonly string[]) {
    super();
    this.name = name;
    this.patternLength = patternLength;
    this.complaints = complaints;
  }

  equals(other: OpaqueValue): boolean {
    return this.name === (other as FormatValue).name;
  }
}

const FORMATS: ReadonlyMap<string, FormatValue> = new Map([
  ["dns1123Label", new FormatValue("DNS1123Label", 30, (text) => labelName(text, false))],
  ["dns1123Subdomain", new FormatValue("DNS1123Subdomain", 60, (text) => subdomainName(text, false))],
  ["dns1035Label", new FormatValue("DNS1035Label", 30, (text) => label1035Name(text, false))],
  ["qualifiedName", new FormatValue("QualifiedName", 60, qualifiedName)],
  ["dns1123LabelPrefix", new FormatValue("DNS1123LabelPrefix", 30, (text) => labelName(text, true))],
  ["dns1123SubdomainPrefix", new FormatValue("DNS1123SubdomainPrefix", 60, (text) => subdomainName(text, true))],
  ["dns1035LabelPrefix", new FormatValue("DNS1035LabelPrefix", 30, (text) => label1035Name(text, true))],
  ["labelValue", new FormatValue("LabelValue", 40, labelValue)],
  ["uri", new FormatValue("URI", 1103, uriComplaints)],
  ["uuid", checkedFormat("uuid", 72, "does not match the UUID format")],
  ["byte", checkedFormat("byte", 84, "invalid base64")],
  ["date", checkedFormat("date", 70, "invalid date")],
  ["datetime", checkedFormat("datetime", 70, "invalid datetime")],
]);

export const formats: readonly FunctionDeclaration[] = [
  ...[...FORMATS].map(([name, format]) =>
    declare(`format.${name}`, [overload(`format.${name}`, [], FORMAT, () => format)]),
  ),
  declare(
    "format.named",
    [overload("format-named", [STRING], optionalOf(FORMAT), (name) => new Optional(FORMATS.get(name as string)))],
    { cost: NOMINAL },
  ),
  declare(
    "validate",
    [
      method("format-validate", [FORMAT, STRING], optionalOf(listOf(STRING)), (format, text) => {
        const complaints = (format as FormatValue).complaints(text as string);
        return complaints.length === 0 ? Optional.none : new Optional(new ListValue(complaints));
      }),
    ],
    {
      cost: {
        estimate: ({ args: [text] }) => ({
          cost: text!.size.scaled(TEXT_FACTOR).scaled(LONGEST_PATTERN * PATTERN_FACTOR),
        }),
        track: ([format, text]) => {
          const reading = Math.ceil((1 + sizeOf(text!)) * TEXT_FACTOR);
          return reading * Math.ceil((format as FormatValue).patternLength * PATTERN_FACTOR);
        },
      },
    },
  ),
];

function checkedFormat(name: string, patternLength: number, complaint: string): FormatValue {
  const check = formatCheck(name)!;
  return new FormatValue(name, patternLength, (text) => (check(text) ? [] : [complaint]));
}

function uriComplaints(text: string): readonly string[] {
  try {
    parseUrl(text);
    return [];
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return [error.message];
  }
}
