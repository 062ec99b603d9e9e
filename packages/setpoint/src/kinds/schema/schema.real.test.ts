import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { isInvalid } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { connect } from "../../client/connect.js";
import { CustomResourceDefinition } from "../builtin/apiextensions.k8s.io/v1.js";
import { installCrd } from "../crd/install-crd.js";
import type { KubeObject, NewObject } from "../object.js";
import { type Resource, resource } from "../resource.js";
import type { JsonSchema } from "./json-schema.js";
import { randomSchema, valueFor } from "./random-schema.testing.js";

let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let client: Client;

beforeAll(async () => {
  cluster = await startKubernetes();
  client = await connect({ kubeconfig: cluster.kubeconfig });
});

afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

/** A kind with a field of each schema. */
function kindOf(schemas: readonly JsonSchema[], name: string): Resource {
  const properties = Object.fromEntries(schemas.map((schema, at) => [`f${at}`, schema]));
  return resource(`random.example.com/v1/${name}`, {
    spec: { type: "object", properties },
    scope: "Cluster",
  }) as Resource;
}

describe("random schemas, on a real kube-apiserver", () => {
  it("are accepted as CustomResourceDefinitions and returned unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(randomSchema, { minLength: 20, maxLength: 30 }), async (schemas) => {
        const crd = kindOf(schemas, "Shape").crd();
        const accepted = await client.create(CustomResourceDefinition, crd, { dryRun: true });
        expect(accepted.spec).toEqual(JSON.parse(JSON.stringify(crd.spec)));
      }),
      { numRuns: 30 },
    );
  });

  it("validate and default values as we do", async () => {
    const schemas = fc.sample(randomSchema, { numRuns: 40, seed: Number(process.env.SETPOINT_SEED) });
    const Random = kindOf(schemas, "Random");
    await installCrd(client, Random.crd());
    // A server reports a definition as established before it serves it.
    await vi.waitFor(() => client.list(Random), { timeout: 60_000 });
    const scenario = fc.nat(schemas.length - 1).chain((at) => fc.tuple(fc.constant(`f${at}`), valueFor(schemas[at]!)));
    let refusedByBoth = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ([field, value]) => {
        const object = { metadata: { name: "a" }, spec: { [field]: value } } as unknown as NewObject<KubeObject>;
        const problems = Random.validate(object);
        const answer: unknown = await client.create(Random, object, { dryRun: true }).catch((error: unknown) => error);
        if (isInvalid(answer)) {
          expect(problems, `the server says ${answer.message}`).not.toEqual([]);
          refusedByBoth++;
          return;
        }
        if (answer instanceof Error) throw answer;
        expect(problems, "the server takes it").toEqual([]);
        const ours = Random.withDefaults(object) as unknown as { spec: unknown };
        const theirs = (answer as { spec: unknown }).spec;
        expect(isPruned(theirs, ours.spec), JSON.stringify({ theirs, ours: ours.spec })).toBe(true);
      }),
      { numRuns: 600 },
    );
    console.info(`${refusedByBoth} of 600 refused by both`);
  });
});

/** Whether the server's value equals ours except for unknown fields. */
function isPruned(theirs: unknown, ours: unknown): boolean {
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    return theirs.length === ours.length && theirs.every((item, at) => isPruned(item, ours[at]));
  }
  if (typeof theirs !== "object" || typeof ours !== "object" || theirs === null || ours === null) {
    return isDeepStrictEqual(theirs, ours);
  }
  return Object.entries(theirs).every(([key, value]) => isPruned(value, (ours as Record<string, unknown>)[key]));
}
