import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";
import { Dice } from "../apply/random-writes.testing.js";
import type { Schema } from "../facts/schema.js";
import { type RealAnswer, RealServer, SEED } from "../real-server.testing.js";
import { RANDOM_SCHEMA, RandomExpressions, randomSelf } from "./random-expressions.testing.js";
import { ruleIssues } from "./schema/rule-issues.js";
import { ruleTree } from "./schema/rule-tree.js";
import { validateRules } from "./schema/rule-validation.js";

/**
 * Random rules on random values, on a real server and here: the same rules are refused, with the same messages and cost
 * estimates, and the same values violate the others. `SETPOINT_SEED` repeats a run, `STEPS` lengthens it,
 * `KUBECONFIG_REAL` names a running server.
 */
const STEPS = Number(process.env.STEPS ?? 8);
const RULES_PER_STEP = 25;
const OBJECTS_PER_STEP = 8;
const GROUP = `rules${SEED}-${process.pid}.example.com`;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let real: RealServer;
const made: string[] = [];

beforeAll(async () => {
  real = await RealServer.start();
}, 120_000);

afterAll(async () => {
  for (const name of made) await real.call("DELETE", `${CRDS}/${name}`);
  await real[Symbol.asyncDispose]();
});

describe("random rules", () => {
  const dice = new Dice(SEED);
  for (let step = 0; step < STEPS; step++) {
    it(`mean the same on a real server (${step})`, async () => {
      const rules = Array.from({ length: RULES_PER_STEP }, () => new RandomExpressions(dice).rule());
      const plural = `things${step}`;
      const accepted: string[] = [];
      // One by one: the total cost of a schema's rules would hide the cost of each.
      for (const rule of rules) {
        const theirs = await real.call("POST", `${CRDS}?dryRun=All`, crd(plural, [rule]));
        const ours = ruleIssues(schemaOf([rule]), "spec.validation.openAPIV3Schema");
        expect({ rule, found: sentences(ours) }).toEqual({ rule, found: causes(theirs) });
        if (theirs.status === 201) accepted.push(rule);
      }
      const usable = accepted.slice(0, 20);
      made.push(`${plural}.${GROUP}`);
      const installed = await real.call("POST", CRDS, crd(plural, usable));
      if (installed.status !== 201) return;
      const path = `/apis/${GROUP}/v1/namespaces/default/${plural}`;
      while ((await real.call("GET", path)).status !== 200) await systemClock.sleep(100);
      const tree = ruleTree(schemaOf(usable))!;
      for (let count = 0; count < OBJECTS_PER_STEP; count++) {
        const spec = randomSelf(dice);
        const object = { apiVersion: `${GROUP}/v1`, kind: `Thing${step}`, metadata: { name: "a" }, spec };
        const theirs = await real.call("POST", `${path}?dryRun=All`, object);
        const [ours, expected] = withoutCrashes(sentences(validateRules(tree, object)), causes(theirs));
        expect({ spec, found: ours }).toEqual({ spec, found: expected });
      }
    }, 120_000);
  }
});

function schemaOf(rules: readonly string[]): Schema {
  const validations = rules.map((rule) => ({ rule }));
  return {
    type: "object",
    properties: { spec: { ...RANDOM_SCHEMA, "x-kubernetes-validations": validations } },
  };
}

function crd(plural: string, rules: readonly string[]): Json {
  const kind = plural.replace("things", "Thing");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schemaOf(rules) as unknown as Json } },
      ],
    },
  };
}

const CRASH = /internal error: interface conversion: .* evaluating rule: (.*)$/s;

/** Sorting an error value crashes inside the real server's library, which reports that; here it is an error. */
function withoutCrashes(ours: readonly string[], theirs: readonly string[]): [readonly string[], readonly string[]] {
  const crashed = theirs.flatMap((sentence) => CRASH.exec(sentence)?.[1] ?? []);
  const isKept = (sentence: string): boolean => !crashed.some((rule) => sentence.endsWith(`: ${rule}`));
  return [ours.filter(isKept), theirs.filter(isKept)];
}

/** The real server numbers types by its clock. */
function comparable(sentence: string): string {
  return sentence.replace(/selfType\d*/g, "selfType");
}

function sentences(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ type, field, detail }) => comparable(`${type} ${field}: ${detail}`)).sort();
}

function causes({ body }: RealAnswer): readonly string[] {
  const { details } = body;
  const list = isObject(details) && Array.isArray(details.causes) ? (details.causes as JsonObject[]) : [];
  return list
    .map(({ reason, field, message }) => comparable(`${String(reason)} ${String(field)}: ${String(message)}`))
    .sort();
}
