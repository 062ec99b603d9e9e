import { readFileSync } from "node:fs";
import { isSetpointError, resource } from "setpoint";
import { describe, expect, it } from "vitest";
import { Dice } from "../apply/random-writes.testing.js";
import type { Schema } from "../facts/schema.js";
import { SEED } from "../real-server.testing.js";
import { compile } from "./compilation.js";
import { kubernetesLibrary } from "./functions/library.js";
import { RANDOM_SCHEMA, RandomExpressions } from "./random-expressions.testing.js";
import { celType, declaredType } from "./schema/declared-type.js";
import { IssueError } from "./syntax/issue.js";

const recorded = JSON.parse(readFileSync(new URL("recorded-answers.json", import.meta.url), "utf8")) as {
  readonly schema: Schema;
  readonly answers: readonly { readonly expression: string }[];
};

/** The control plane's first issue with a rule; undefined if it compiles to a boolean. */
function issueHere(schema: Schema, rule: string): string | undefined {
  const self = celType(declaredType(schema, false)!, "selfType");
  const variables = new Map([
    ["self", self],
    ["oldSelf", self],
  ]);
  try {
    const { type } = compile(rule, kubernetesLibrary.environment(variables));
    return type.kind === "bool" ? undefined : `gives ${type.kind}`;
  } catch (error) {
    if (error instanceof IssueError) return error.message;
    throw error;
  }
}

/** The issue of a kind's declaration with it. */
function issueThere(schema: Schema, rule: string): string | undefined {
  try {
    resource("example.com/v1/Thing", { spec: { ...schema, "x-kubernetes-validations": [{ rule, message: "no" }] } });
    return undefined;
  } catch (error) {
    if (isSetpointError(error, "KIND_INVALID")) return error.message;
    throw error;
  }
}

/** Checked by servers only: literals that are parsed when a rule is compiled, lists and maps of mixed types. */
const OF_SERVERS =
  /: (invalid (duration|timestamp|matches|uint) |expected type |error during formatting|too many arguments|index \d+ out of range|could not parse)/;
/** The element type of an empty literal follows from what it is compared with, on servers only. */
const EMPTY = /\[\]|\{\}/;

describe("a rule that a kind is declared with", () => {
  const compare = (schema: Schema, rule: string): void => {
    const [here, there] = [issueHere(schema, rule), issueThere(schema, rule)];
    const isOfServers = here !== undefined && (OF_SERVERS.test(here) || EMPTY.test(rule));
    if (there === undefined && isOfServers) return;
    expect(there === undefined, `${rule}: ${here ?? there}`).toBe(here === undefined);
  };

  it.each(recorded.answers.map(({ expression }) => expression))("is refused where servers refuse it: %s", (rule) => {
    compare(recorded.schema, rule);
  });

  it("is refused exactly if servers refuse it: random rules", () => {
    const dice = new Dice(SEED);
    for (let count = 0; count < 400; count++) compare(RANDOM_SCHEMA, new RandomExpressions(dice).rule());
  });
});
