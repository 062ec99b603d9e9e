import type { Json, JsonObject } from "../../api/json.js";
import type { Authorizer } from "../../api/user.js";
import { Budget } from "../../cel/evaluation/budget.js";
import type { Variables } from "../../cel/evaluation/program.js";
import { MapValue } from "../../cel/values/collection.js";
import { type CelValue, Failure } from "../../cel/values/value.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { admissionNamespace } from "../webhooks/webhook-matching.js";
import type { AdmissionExpression } from "./admission-expression.js";
import { authorizerValue, requestResource } from "./authorizer.js";
import { jsonValue } from "./json-value.js";

export interface AdmissionInput {
  readonly attributes: AdmissionAttributes;
  /** The version of `object` and `oldObject`. */
  readonly definition: ResourceDefinition;
  readonly object: Json;
  readonly oldObject: Json;
  readonly authorizer?: Authorizer | undefined;
  /** Null if there are no parameters. Undefined if the expression cannot use them. */
  readonly params?: Json | undefined;
  readonly namespace?: Json | undefined;
  /** Named expressions, each evaluated on first use. */
  readonly variables?: ReadonlyMap<string, AdmissionExpression>;
  /** Charges the cost of the named expressions. */
  readonly spend?: (cost: number) => void;
}

/** The variables of expressions about a write. Each value is created on first use. */
export function admissionVariables(input: AdmissionInput): Variables {
  const { attributes, authorizer, params, namespace } = input;
  const known = new Map<string, CelValue>();
  const made: Readonly<Record<string, () => CelValue>> = {
    object: () => jsonValue(input.object),
    oldObject: () => jsonValue(input.oldObject),
    request: () => jsonValue(requestOf(input)),
    namespaceObject: () => jsonValue(namespace ?? null),
    params: () => jsonValue(params ?? null),
    variables: () => new NamedExpressions(input.variables ?? new Map(), variables, input.spend ?? (() => {})),
    ...(authorizer && {
      authorizer: () => authorizerValue(authorizer, attributes.user),
      "authorizer.requestResource": () => requestResource(authorizer, attributes.user, resourceOf(attributes)),
    }),
  };
  const variables: Variables = (name) => {
    if (!known.has(name) && Object.hasOwn(made, name)) known.set(name, made[name]!());
    return known.get(name);
  };
  return variables;
}

function resourceOf(attributes: AdmissionAttributes): {
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
} {
  const { definition, subresource, name } = attributes;
  return {
    group: definition.group,
    resource: definition.plural,
    subresource,
    namespace: admissionNamespace(attributes),
    name,
  };
}

/** The variable `request`: the request of an AdmissionReview without its objects, and with an empty uid. */
function requestOf({ attributes, definition }: AdmissionInput): JsonObject {
  const { subresource, operation, user, dryRun, options, name } = attributes;
  const kindOf = ({ group, version, kind, subresources }: ResourceDefinition): JsonObject => {
    const part = subresources.find((each) => each.name === subresource);
    return part ? { group: part.group, version: part.version, kind: part.kind } : { group, version, kind };
  };
  const namedResource = ({ group, version, plural }: ResourceDefinition): JsonObject => ({
    group,
    version,
    resource: plural,
  });
  const namespace = admissionNamespace(attributes);
  return {
    uid: "",
    kind: kindOf(definition),
    resource: namedResource(definition),
    ...(subresource && { subResource: subresource }),
    requestKind: kindOf(attributes.definition),
    requestResource: namedResource(attributes.definition),
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && { extra: user.extra }),
    },
    dryRun,
    options: options as JsonObject,
  } as JsonObject;
}

const VARIABLE_LIMIT = 1_000_000;

/** The variable `variables`. Each named expression is evaluated once, on first use. */
class NamedExpressions extends MapValue {
  readonly #expressions: ReadonlyMap<string, AdmissionExpression>;
  readonly #variables: Variables;
  readonly #spend: (cost: number) => void;
  readonly #values = new Map<string, CelValue>();

  constructor(
    expressions: ReadonlyMap<string, AdmissionExpression>,
    variables: Variables,
    spend: (cost: number) => void,
  ) {
    super();
    this.#expressions = expressions;
    this.#variables = variables;
    this.#spend = spend;
  }

  get size(): number {
    return this.#expressions.size;
  }

  get keys(): readonly CelValue[] {
    return [...this.#expressions.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    const name = key as string;
    const expression = this.#expressions.get(name);
    if (expression === undefined) return undefined;
    const known = this.#values.get(name) ?? this.#evaluate(name, expression);
    this.#values.set(name, known);
    return known;
  }

  #evaluate(name: string, { program, error }: AdmissionExpression): CelValue {
    if (program === undefined) return new Failure(`composited variable "${name}" fails to compile: ${error ?? ""}`);
    const budget = new Budget(VARIABLE_LIMIT);
    const value = program.evaluate(this.#variables, budget);
    this.#spend(budget.spent);
    if (!(value instanceof Failure)) return value;
    return new Failure(`composited variable "${name}" fails to evaluate: ${value.message}`);
  }
}
