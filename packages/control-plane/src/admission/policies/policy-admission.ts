import type { KubeObject } from "setpoint";
import type { Json } from "../../api/json.js";
import { forbidden, StatusError } from "../../api/status-error.js";
import type { Authorizer } from "../../api/user.js";
import { Failure } from "../../cel/values/value.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";
import { AdmissionEvaluation, type AdmissionExpression, OutOfBudget } from "../expressions/admission-expression.js";
import { admissionVariables } from "../expressions/admission-variables.js";
import { converted } from "../webhooks/webhook-admission.js";
import { isExempt } from "../webhooks/webhook-matching.js";
import { InstalledPolicies, type InstalledPolicy } from "./installed-policies.js";
import {
  type CompiledPolicy,
  type CompiledValidation,
  compilePolicy,
  type PolicyBinding,
  type ValidatingPolicy,
} from "./policy.js";
import { matchedDefinition } from "./policy-matching.js";
import { namespaceObject } from "./policy-namespace.js";
import { BindingProblem, paramsOf } from "./policy-params.js";

const LIMIT = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413 };

export interface PolicyAdmissionOptions {
  readonly storage: Storage;
  readonly authorizer: Authorizer;
  readonly catalog: () => ResourceCatalog;
  /** The other resources that serve the same objects. */
  readonly equivalents: (definition: ResourceDefinition) => readonly ResourceDefinition[];
}

/** Why a policy denies a request. */
interface Denial {
  readonly policy: string;
  /** Undefined if the policy itself is not usable. */
  readonly binding: PolicyBinding | undefined;
  readonly message: string;
  readonly reason?: string | undefined;
}

/** The plugin ValidatingAdmissionPolicy: CEL expressions that each matching write must satisfy. */
export class PolicyAdmission implements Disposable {
  readonly #options: PolicyAdmissionOptions;
  readonly #policies: InstalledPolicies<ValidatingPolicy, CompiledPolicy>;

  constructor(options: PolicyAdmissionOptions) {
    this.#options = options;
    this.#policies = new InstalledPolicies(options.storage, "validating", compilePolicy);
  }

  [Symbol.dispose](): void {
    this.#policies[Symbol.dispose]();
  }

  get validatingPlugin(): AdmissionPlugin {
    return {
      name: "ValidatingAdmissionPolicy",
      concerns: () => this.#policies.all.length > 0,
      validate: (attributes, warn) => this.#validate(attributes, warn),
    };
  }

  async #validate(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<void> {
    if (isExempt(attributes.definition)) return;
    const denials: Denial[] = [];
    for (const installed of this.#policies.all) {
      const definition = matchedDefinition(installed.match, attributes, this.#options);
      if (definition !== undefined) denials.push(...(await this.#denials(installed, definition, attributes, warn)));
    }
    const [first] = denials;
    if (first !== undefined) throw refusal(first, attributes);
  }

  async #denials(
    installed: InstalledPolicy<CompiledPolicy>,
    definition: ResourceDefinition,
    attributes: AdmissionAttributes,
    warn: (text: string) => void,
  ): Promise<readonly Denial[]> {
    const { storage, catalog } = this.#options;
    const { name } = installed.policy.metadata;
    const denials: Denial[] = [];
    for (const { binding, match } of installed.bindings) {
      if (matchedDefinition(match, attributes, this.#options) === undefined) continue;
      try {
        const params = paramsOf(installed.policy, binding.spec.paramRef, attributes.namespace, storage, catalog());
        for (const param of params) {
          const decisions = await this.#evaluate(installed, definition, attributes, param);
          denials.push(...enforced(name, binding, decisions, warn));
        }
      } catch (error) {
        if (!(error instanceof BindingProblem)) throw error;
        if (installed.policy.spec.failurePolicy === "Ignore") continue;
        denials.push({ policy: name, binding, message: `failed to configure binding: ${error.message}` });
      }
    }
    return denials;
  }

  async #evaluate(
    compiled: CompiledPolicy,
    definition: ResourceDefinition,
    attributes: AdmissionAttributes,
    params: Json,
  ): Promise<readonly Decision[]> {
    const { object, oldObject, signal } = attributes;
    const at = async (value: KubeObject | undefined): Promise<Json> => {
      if (value === undefined) return null;
      const [result] = await converted([value], attributes.definition, definition, signal);
      return result as unknown as Json;
    };
    const objects = { object: await at(object), oldObject: await at(oldObject) };
    let evaluation: AdmissionEvaluation | undefined;
    const variables = admissionVariables({
      attributes,
      definition,
      ...objects,
      authorizer: this.#options.authorizer,
      params,
      namespace: namespaceObject(attributes, this.#options.storage),
      variables: compiled.variables,
      spend: (cost) => evaluation?.spend(cost),
    });
    const mayFail = compiled.policy.spec.failurePolicy === "Ignore";
    const failed = (message: string): Decision[] => (mayFail ? [] : [{ message }]);
    const matched = compiled.conditions?.match(variables);
    if (matched !== undefined && "error" in matched) return failed(matched.error);
    if (matched !== undefined && !matched.matches) return [];
    evaluation = new AdmissionEvaluation(variables, LIMIT);
    try {
      const decisions = compiled.validations.flatMap((validation) => decide(validation, evaluation!, failed));
      return [
        ...decisions,
        ...compiled.annotations.flatMap(({ expression }) => annotate(expression, evaluation!, failed)),
      ];
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return failed(error.message);
    }
  }
}

/** One failed validation. */
interface Decision {
  readonly message: string;
  readonly reason?: string | undefined;
}

function decide(
  { validation, expression, message }: CompiledValidation,
  evaluation: AdmissionEvaluation,
  failed: (message: string) => Decision[],
): readonly Decision[] {
  const value = evaluation.value(expression);
  if (value instanceof Failure) return failed(value.message);
  if (value === true) return [];
  const own = message === undefined ? undefined : evaluation.value(message);
  const text = typeof own === "string" ? own.trim() : "";
  const isUsable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
  const given = validation.message?.trim() || `failed expression: ${validation.expression.trim()}`;
  return [{ message: isUsable ? text : given, reason: validation.reason || "Invalid" }];
}

/** There is no audit log, but an annotation that fails to evaluate still denies the request. */
function annotate(
  expression: AdmissionExpression,
  evaluation: AdmissionEvaluation,
  failed: (message: string) => Decision[],
): readonly Decision[] {
  const value = evaluation.value(expression);
  return value instanceof Failure ? failed(value.message) : [];
}

/** Applies the binding's actions to failed validations: denials, warnings, or nothing. */
function enforced(
  policy: string,
  binding: PolicyBinding,
  decisions: readonly Decision[],
  warn: (text: string) => void,
): readonly Denial[] {
  const actions = binding.spec.validationActions ?? [];
  const denials: Denial[] = [];
  for (const { message, reason } of decisions) {
    if (actions.includes("Deny")) denials.push({ policy, binding, message, reason });
    if (actions.includes("Warn")) {
      const { name } = binding.metadata;
      warn(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${message}`);
    }
  }
  return denials;
}

function refusal(
  { policy, binding, message, reason = "Invalid" }: Denial,
  attributes: AdmissionAttributes,
): StatusError {
  const { definition, name } = attributes;
  const by = binding === undefined ? "" : ` with binding '${binding.metadata.name}'`;
  const sentence = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const { status } = forbidden({ group: definition.group, resource: definition.plural }, name, sentence, [
    { message: sentence },
  ]);
  return new StatusError(CODES[reason] ?? 422, reason, status.message, status.details);
}
