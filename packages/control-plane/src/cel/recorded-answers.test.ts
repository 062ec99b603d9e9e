import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { compile } from "./compilation.js";
import { estimateCost } from "./costs/estimate.js";
import { Range } from "./costs/range.js";
import { Budget } from "./evaluation/budget.js";
import { Program } from "./evaluation/program.js";
import { kubernetesLibrary } from "./functions/library.js";
import { celType, declaredAt, declaredType } from "./schema/declared-type.js";
import { schemaValue } from "./schema/schema-value.js";
import { IssueError } from "./syntax/issue.js";
import { Failure } from "./values/value.js";

/** The result of an expression in the libraries of kube-apiserver 1.36. */
interface Answer {
  readonly expression: string;
  /** The compile errors of its text. */
  readonly issues?: string;
  /** Why a constant in it cannot be evaluated. */
  readonly unusable?: string;
  readonly value?: boolean | null;
  readonly failure?: string;
  readonly cost?: number;
  readonly estimate?: string;
}

const { schema, self, answers } = JSON.parse(
  readFileSync(new URL("recorded-answers.json", import.meta.url), "utf8"),
) as {
  readonly schema: Schema;
  readonly self: Json;
  readonly answers: readonly Answer[];
};

function answer(expression: string): Answer {
  const declared = declaredType(schema, false)!;
  const type = celType(declared, "selfType");
  const variables = new Map([
    ["self", type],
    ["oldSelf", type],
  ]);
  try {
    const checked = compile(expression, kubernetesLibrary.environment(variables));
    const program = Program.of(checked);
    if (program instanceof Failure) return { expression, unusable: program.message };
    const estimate = estimateCost(checked, (path) => {
      const found = declaredAt(declared, path.slice(1));
      return found && new Range(0n, BigInt(found.maxSize));
    });
    const value = schemaValue(schema, self);
    const budget = new Budget(1_000_000);
    const result = attempt(() => program.evaluate((name) => (name === "self" ? value : undefined), budget));
    const common = { expression, estimate: String(estimate.max) };
    if (result instanceof Failure) return { ...common, failure: result.message };
    return { ...common, value: typeof result === "boolean" ? result : null, cost: budget.spent };
  } catch (error) {
    if (error instanceof IssueError) return { expression, issues: error.message };
    throw error;
  }
}

function attempt<Result>(work: () => Result): Result | Failure {
  try {
    return work();
  } catch (error) {
    return new Failure((error as Error).message);
  }
}

describe("expressions have the real server's types, values and costs", () => {
  it.each(answers.map((each) => [each.expression, each] as const))("%s", (expression, expected) => {
    expect(answer(expression)).toMatchObject(expected);
  });
});
