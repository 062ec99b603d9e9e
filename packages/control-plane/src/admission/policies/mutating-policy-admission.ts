import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import { forbidden, StatusError } from "../../api/status-error.js";
import { jsonPatch } from "../../apply/json-patch.js";
import { mergeType } from "../../apply/merge-type.js";
import { merge } from "../../apply/merging.js";
import { Failure } from "../../cel/values/value.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import { AdmissionEvaluation, OutOfBudget } from "../expressions/admission-expression.js";
import { admissionVariables } from "../expressions/admission-variables.js";
import { jsonOf } from "../expressions/patch-types.js";
import { converted, operationError } from "../webhooks/webhook-admission.js";
import { isExempt } from "../webhooks/webhook-matching.js";
import { InstalledPolicies, type InstalledPolicy } from "./installed-policies.js";
import {
  type CompiledMutatingPolicy,
  type CompiledMutation,
  compileMutatingPolicy,
  type MutatingPolicy,
  type PolicyBinding,
} from "./policy.js";
import type { PolicyAdmissionOptions } from "./policy-admission.js";
import { matchedDefinition } from "./policy-matching.js";
import { namespaceObject } from "./policy-namespace.js";
import { BindingProblem, paramsOf } from "./policy-params.js";

const LIMIT = 10_000_000;

/** Why a policy could not change an object. */
class MutationProblem extends Error {}

/** The plugin MutatingAdmissionPolicy: CEL expressions that change the written object. */
export class MutatingPolicyAdmission implements Disposable {
  readonly #options: PolicyAdmissionOptions;
  readonly #policies: InstalledPolicies<MutatingPolicy, CompiledMutatingPolicy>;

  constructor(options: PolicyAdmissionOptions) {
    this.#options = options;
    this.#policies = new InstalledPolicies(options.storage, "mutating", compileMutatingPolicy);
  }

  [Symbol.dispose](): void {
    this.#policies[Symbol.dispose]();
  }

  get mutatingPlugin(): AdmissionPlugin {
    return {
      name: "MutatingAdmissionPolicy",
      concerns: () => this.#policies.all.length > 0,
      mutate: (attributes) => this.#mutate(attributes),
    };
  }

  /**
   * Each policy sees the result of those before it. A policy with `reinvocationPolicy: IfNeeded` runs once more if a
   * later policy changed the object.
   */
  async #mutate(attributes: AdmissionAttributes): Promise<KubeObject | undefined> {
    if (isExempt(attributes.definition) || attributes.object === undefined) return attributes.object;
    let { object } = attributes;
    const problems: { readonly sentence: string }[] = [];
    const again = new Set<string>();
    for (const round of [0, 1]) {
      for (const installed of this.#policies.all) {
        const { name } = installed.policy.metadata;
        if (round === 1 && !again.has(name)) continue;
        const changed = await this.#applied(installed, { ...attributes, object }, problems);
        const isChanged = !isSameJson(changed as unknown as Json, object as unknown as Json);
        object = changed;
        if (round === 1) continue;
        if (isChanged) {
          for (const earlier of this.#policies.all) {
            if (earlier === installed) break;
            if (earlier.policy.spec.reinvocationPolicy === "IfNeeded") again.add(earlier.policy.metadata.name);
          }
        }
      }
      if (again.size === 0) break;
    }
    if (problems.length > 0) throw refusal(problems, attributes);
    return object;
  }

  async #applied(
    installed: InstalledPolicy<CompiledMutatingPolicy>,
    attributes: AdmissionAttributes,
    problems: { readonly sentence: string }[],
  ): Promise<KubeObject> {
    const { storage, catalog } = this.#options;
    const { policy } = installed;
    let object = attributes.object!;
    const definition = matchedDefinition(installed.match, attributes, this.#options);
    if (definition === undefined) return object;
    for (const { binding, match } of installed.bindings) {
      if (matchedDefinition(match, attributes, this.#options) === undefined) continue;
      try {
        for (const params of paramsOf(policy, binding.spec.paramRef, attributes.namespace, storage, catalog())) {
          object = await this.#changed(installed, definition, { ...attributes, object }, params);
        }
      } catch (error) {
        if (!(error instanceof BindingProblem) && !(error instanceof MutationProblem)) throw error;
        if (policy.spec.failurePolicy === "Ignore") continue;
        const why = error instanceof BindingProblem ? `failed to configure binding: ${error.message}` : error.message;
        problems.push({ sentence: denial(policy, binding, why) });
      }
    }
    return object;
  }

  async #changed(
    compiled: CompiledMutatingPolicy,
    definition: ResourceDefinition,
    attributes: AdmissionAttributes,
    params: Json,
  ): Promise<KubeObject> {
    const { object, oldObject, signal } = attributes;
    const [served] = await converted([object!], attributes.definition, definition, signal);
    const [old] = oldObject ? await converted([oldObject], attributes.definition, definition, signal) : [];
    let current = served as unknown as JsonObject;
    for (const mutation of compiled.mutations) {
      const patched = this.#mutation(compiled, mutation, definition, attributes, params, current, old);
      if (patched === undefined) return object!;
      const { shape } = definition;
      const complete = shape.applyDefaults(shape.prune(patched as unknown as KubeObject).object);
      current = complete as unknown as JsonObject;
    }
    const [result] = await converted([current as unknown as KubeObject], definition, attributes.definition, signal);
    return result!;
  }

  /** The object with one mutation applied. Undefined if the match conditions of the policy are false. */
  #mutation(
    compiled: CompiledMutatingPolicy,
    { expression, isPatch }: CompiledMutation,
    definition: ResourceDefinition,
    attributes: AdmissionAttributes,
    params: Json,
    current: JsonObject,
    old: KubeObject | undefined,
  ): JsonObject | undefined {
    let evaluation: AdmissionEvaluation | undefined;
    const variables = admissionVariables({
      attributes,
      definition,
      object: current,
      oldObject: (old ?? null) as unknown as Json,
      authorizer: this.#options.authorizer,
      params,
      namespace: namespaceObject(attributes, this.#options.storage),
      variables: compiled.variables,
      spend: (cost) => evaluation?.spend(cost),
    });
    const matched = compiled.conditions?.match(variables);
    if (matched !== undefined && "error" in matched) throw new MutationProblem(matched.error);
    if (matched !== undefined && !matched.matches) return undefined;
    evaluation = new AdmissionEvaluation(variables, LIMIT);
    const value = attempt(() => evaluation!.value(expression));
    if (value instanceof Failure) throw new MutationProblem(value.message);
    const json = jsonOf(value);
    return isPatch ? patched(current, json) : applied(definition, current, json);
  }
}

function attempt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof OutOfBudget ? new MutationProblem(error.message) : error;
  }
}

/** A failed `test` operation leaves the object unchanged. */
function patched(object: JsonObject, operations: Json | undefined): JsonObject {
  if (!isArray(operations ?? null))
    throw new MutationProblem("type mismatch: JSONPatchType.expression should evaluate to array");
  let result: Json = object;
  for (const operation of operations as readonly Json[]) {
    try {
      result = jsonPatch(result as JsonObject, [operation]);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (isObject(operation) && operation.op === "test") return object;
      throw new MutationProblem(`JSON Patch: ${operationError(operation)}`);
    }
  }
  return result as JsonObject;
}

function applied(definition: ResourceDefinition, object: JsonObject, configuration: Json | undefined): JsonObject {
  if (!isObject(configuration ?? null)) throw new MutationProblem("invalid return type");
  const { apiVersion, kind } = object;
  const complete = { ...(configuration as JsonObject), apiVersion, kind } as JsonObject;
  return merge(mergeType(definition.schema), object, complete) as JsonObject;
}

function denial({ metadata }: MutatingPolicy, binding: PolicyBinding, why: string): string {
  return `policy '${metadata.name}' with binding '${binding.metadata.name}' denied request: ${why}`;
}

function refusal(problems: readonly { readonly sentence: string }[], attributes: AdmissionAttributes): StatusError {
  const { group, plural } = attributes.definition;
  const causes = problems.map(({ sentence }) => ({ message: sentence }));
  const { status } = forbidden({ group, resource: plural }, attributes.name, "", causes);
  return new StatusError(403, "Invalid", problems[0]!.sentence, status.details);
}
