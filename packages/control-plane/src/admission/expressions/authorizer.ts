import type { Authorizer, UserInfo } from "../../api/user.js";
import { Range } from "../../cel/costs/range.js";
import {
  declare,
  type FunctionCost,
  type FunctionDeclaration,
  type Implementation,
  method,
} from "../../cel/functions/declaration.js";
import { NOMINAL, TEXT_FACTOR } from "../../cel/functions/text-cost.js";
import { BOOL, STRING, struct, type Type } from "../../cel/types/type.js";
import { type CelValue, OpaqueValue } from "../../cel/values/value.js";
import { sizeOf } from "../../cel/values/value-type.js";

export const AUTHORIZER = struct("kubernetes.authorization.Authorizer");
export const RESOURCE_CHECK = struct("kubernetes.authorization.ResourceCheck");
const PATH_CHECK = struct("kubernetes.authorization.PathCheck");
const GROUP_CHECK = struct("kubernetes.authorization.GroupCheck");
const DECISION = struct("kubernetes.authorization.Decision");

/** The access check that an expression builds step by step. */
interface Question {
  readonly authorizer: Authorizer;
  readonly user: UserInfo;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The decision, after `check`. */
  readonly allowed?: boolean;
  readonly reason?: string;
}

class AuthorizationValue extends OpaqueValue {
  readonly type: Type;
  readonly question: Question;

  constructor(type: Type, question: Question) {
    super();
    this.type = type;
    this.question = question;
  }

  equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** The variable `authorizer`. */
export function authorizerValue(authorizer: Authorizer, user: UserInfo): CelValue {
  return new AuthorizationValue(AUTHORIZER, { authorizer, user });
}

/** The variable `authorizer.requestResource`: a check of the request's own resource. */
export function requestResource(
  authorizer: Authorizer,
  user: UserInfo,
  about: Required<Pick<Question, "group" | "resource" | "subresource" | "namespace" | "name">>,
): CelValue {
  return new AuthorizationValue(RESOURCE_CHECK, { authorizer, user, ...about });
}

/** The budget of an expression covers two checks. */
const CHECK_COST = 350_000;
const CHECKING: FunctionCost = {
  estimate: () => ({ cost: Range.exactly(CHECK_COST) }),
  track: () => CHECK_COST,
};

/** The cost of parsing a selector. Each requirement creates a struct and a list. */
const SELECTING: FunctionCost = {
  track: ([, selector]) => {
    const size = sizeOf(selector!);
    return 10 + Math.ceil(size * TEXT_FACTOR) + Math.ceil(Math.ceil(size * 0.5) * 50);
  },
};

export const authorization: readonly FunctionDeclaration[] = [
  step("path", AUTHORIZER, PATH_CHECK, "authorizer_path", (path) => ({ path })),
  step("group", AUTHORIZER, GROUP_CHECK, "authorizer_group", (group) => ({ group })),
  declare(
    "serviceAccount",
    [
      method("authorizer_serviceaccount", [AUTHORIZER, STRING, STRING], AUTHORIZER, (value, namespace, name) => {
        const { authorizer } = (value as AuthorizationValue).question;
        return authorizerValue(authorizer, {
          name: `system:serviceaccount:${namespace as string}:${name as string}`,
          groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace as string}`],
        });
      }),
    ],
    { cost: NOMINAL },
  ),
  step("resource", GROUP_CHECK, RESOURCE_CHECK, "groupcheck_resource", (resource) => ({ resource })),
  step("subresource", RESOURCE_CHECK, RESOURCE_CHECK, "resourcecheck_subresource", (subresource) => ({ subresource })),
  step("namespace", RESOURCE_CHECK, RESOURCE_CHECK, "resourcecheck_namespace", (namespace) => ({ namespace })),
  step("name", RESOURCE_CHECK, RESOURCE_CHECK, "resourcecheck_name", (name) => ({ name })),
  // RBAC ignores selectors.
  selecting("fieldSelector", "authorizer_fieldselector"),
  selecting("labelSelector", "authorizer_labelselector"),
  declare(
    "check",
    [
      method("pathcheck_check", [PATH_CHECK, STRING], DECISION, checked),
      method("resourcecheck_check", [RESOURCE_CHECK, STRING], DECISION, checked),
    ],
    { cost: CHECKING },
  ),
  answer("allowed", BOOL, "decision_allowed", ({ allowed }) => allowed === true),
  answer("reason", STRING, "decision_reason", ({ reason }) => reason ?? ""),
  answer("errored", BOOL, "decision_errored", () => false),
  answer("error", STRING, "decision_error", () => ""),
];

function step(
  name: string,
  from: Type,
  to: Type,
  id: string,
  more: (text: string) => Partial<Question>,
): FunctionDeclaration {
  const apply: Implementation = (value, text) =>
    new AuthorizationValue(to, { ...(value as AuthorizationValue).question, ...more(text as string) });
  return declare(name, [method(id, [from, STRING], to, apply)], { cost: NOMINAL });
}

function selecting(name: string, id: string): FunctionDeclaration {
  const apply: Implementation = (value) => value!;
  return declare(name, [method(id, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, apply)], { cost: SELECTING });
}

function answer(name: string, type: Type, id: string, read: (question: Question) => CelValue): FunctionDeclaration {
  const apply: Implementation = (value) => read((value as AuthorizationValue).question);
  return declare(name, [method(id, [DECISION], type, apply)], { cost: NOMINAL });
}

function checked(value: CelValue, verb: CelValue): CelValue {
  const { question } = value as AuthorizationValue;
  const { authorizer, user, path, group = "", resource = "", subresource = "", namespace = "", name = "" } = question;
  const decision = authorizer.authorize(
    path === undefined
      ? { type: "resource", user, verb: verb as string, group, version: "*", resource, subresource, namespace, name }
      : { type: "path", user, verb: verb as string, path },
  );
  return new AuthorizationValue(DECISION, { ...question, ...decision });
}
