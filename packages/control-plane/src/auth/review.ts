import type { KubeObject } from "setpoint";
import type { Clock } from "setpoint/clock";
import { formatTime, type UntypedObject } from "setpoint/kinds";
import { goQuote } from "../api/go-format.js";
import { badRequest, type FieldError, invalid } from "../api/status-error.js";
import type { AccessAttributes, Authorizer, UserInfo } from "../api/user.js";
import { authenticated } from "./authenticator.js";
import type { RbacAuthorizer } from "./rbac/rbac-authorizer.js";
import type { TokenAuthenticator } from "./token-authenticator.js";

export interface ReviewEnvironment {
  readonly authorizer: Authorizer;
  readonly rbac: RbacAuthorizer;
  readonly tokens: TokenAuthenticator;
  /** The server's own audiences. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
}

export interface ReviewContext {
  readonly user: UserInfo;
  /** From the path; empty for cluster-scoped reviews. */
  readonly namespace: string;
}

type Review = (environment: ReviewEnvironment, object: ReviewObject, context: ReviewContext) => object;

interface ReviewObject extends KubeObject {
  readonly spec?: ReviewSpec;
}

interface ReviewSpec {
  readonly user?: string;
  readonly groups?: readonly string[] | null;
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string } | null;
  readonly namespace?: string;
  readonly token?: string;
  readonly audiences?: readonly string[] | null;
}

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

/** Reviews by `group/Kind`. They are answered and never stored. */
const REVIEWS: Readonly<Record<string, Review>> = {
  "authorization.k8s.io/SubjectAccessReview": ({ authorizer }, object) => {
    const spec = object.spec ?? {};
    refuseInvalid([...metadataErrors(object, false), ...attributesErrors(spec), ...subjectErrors(spec)]);
    return { ...object, status: accessStatus(authorizer, accessOf(spec, subjectOf(spec))) };
  },
  "authorization.k8s.io/LocalSubjectAccessReview": ({ authorizer }, object, { namespace }) => {
    const spec = object.spec ?? {};
    refuseInvalid([
      ...metadataErrors(object, true),
      ...attributesErrors(spec),
      ...subjectErrors(spec),
      ...localErrors(spec, namespace),
    ]);
    return { ...object, status: accessStatus(authorizer, accessOf(spec, subjectOf(spec))) };
  },
  "authorization.k8s.io/SelfSubjectAccessReview": ({ authorizer }, object, { user }) => {
    const spec = object.spec ?? {};
    refuseInvalid([...metadataErrors(object, false), ...attributesErrors(spec)]);
    return { ...object, status: accessStatus(authorizer, accessOf(spec, user)) };
  },
  "authorization.k8s.io/SelfSubjectRulesReview": ({ rbac }, object, { user }) => {
    const namespace = object.spec?.namespace ?? "";
    if (namespace === "") throw badRequest("no namespace on request");
    const { rules, error } = rbac.rulesFor(user, namespace);
    return {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules.flatMap(({ verbs, apiGroups, resources, resourceNames }) =>
          resources?.length
            ? [{ verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) }]
            : [],
        ),
        nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
          nonResourceURLs?.length ? [{ verbs, nonResourceURLs }] : [],
        ),
        incomplete: false,
        ...(error === "" ? {} : { evaluationError: error }),
      },
    };
  },
  "authentication.k8s.io/SelfSubjectReview": ({ clock }, { apiVersion, kind }, { user }) => {
    const creationTimestamp = formatTime(clock.now());
    return { apiVersion, kind, metadata: { creationTimestamp }, status: { userInfo: shownUser(user) } };
  },
  "authentication.k8s.io/TokenReview": ({ tokens, audiences }, object) => {
    const token = object.spec?.token ?? "";
    if (token === "") throw badRequest("token is required for TokenReview in authentication");
    const answer = tokens.authenticate(token, object.spec?.audiences?.length ? object.spec.audiences : audiences);
    if (answer.type === "user") {
      const user = shownUser(authenticated(answer.user));
      return { ...object, status: { authenticated: true, user, audiences: answer.audiences } };
    }
    const error = answer.type === "unknown" ? "invalid bearer token" : `[invalid bearer token, ${answer.why}]`;
    return { ...object, status: { user: {}, error } };
  },
};

export function isReview(group: string, kind: string): boolean {
  return Object.hasOwn(REVIEWS, `${group}/${kind}`);
}

/** Answers the create of a review. Throws the real server's 400 and 422. */
export function answerReview(
  environment: ReviewEnvironment,
  object: KubeObject,
  context: ReviewContext,
): UntypedObject {
  const group = object.apiVersion.slice(0, object.apiVersion.indexOf("/"));
  const review = REVIEWS[`${group}/${object.kind}`];
  if (!review) throw badRequest(`${object.kind} is not a review`);
  return review(environment, object, context) as UntypedObject;
}

function refuseInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "authorization.k8s.io", resource: "" }, "", errors);
}

function invalidValue(field: string, value: string, why: string): FieldError {
  return { type: "FieldValueInvalid", field, detail: `Invalid value: ${value}: ${why}` };
}

function metadataErrors({ metadata }: ReviewObject, isLocal: boolean): readonly FieldError[] {
  const { managedFields: _managed, namespace, creationTimestamp: _created, ...rest } = metadata ?? {};
  const isEmpty = Object.keys(rest).length === 0 && (isLocal || !namespace);
  return isEmpty ? [] : [invalidValue("metadata", JSON.stringify(metadata), "must be empty")];
}

function attributesErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec): readonly FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const why = "cannot be specified in combination with resourceAttributes";
    return [invalidValue("spec.nonResourceAttributes", goAttributes(nonResourceAttributes), why)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [invalidValue("spec.resourceAttributes", "null", why)];
}

function subjectErrors({ user, groups }: ReviewSpec): readonly FieldError[] {
  if (user || groups?.length) return [];
  return [invalidValue("spec.user", '""', "at least one of user or group must be specified")];
}

function localErrors(
  { resourceAttributes, nonResourceAttributes }: ReviewSpec,
  namespace: string,
): readonly FieldError[] {
  if (resourceAttributes && (resourceAttributes.namespace ?? "") !== namespace) {
    const value = goQuote(resourceAttributes.namespace ?? "");
    return [invalidValue("spec.resourceAttributes.namespace", value, "must match metadata.namespace")];
  }
  if (!nonResourceAttributes) return [];
  const why = "disallowed on this kind of request";
  return [invalidValue("spec.nonResourceAttributes", goAttributes(nonResourceAttributes), why)];
}

/** Formatted like the real server's internal type. */
function goAttributes({ path = "", verb = "" }: { readonly path?: string; readonly verb?: string }): string {
  return JSON.stringify({ Path: path, Verb: verb });
}

function subjectOf({ user = "", groups, uid, extra }: ReviewSpec): UserInfo {
  return { name: user, groups: groups ?? [], ...(uid && { uid }), ...(extra && { extra }) };
}

function accessOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec, user: UserInfo): AccessAttributes {
  if (!resourceAttributes) {
    return { type: "path", user, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  }
  const {
    namespace = "",
    verb = "",
    group = "",
    version = "",
    resource = "",
    subresource = "",
    name = "",
  } = resourceAttributes;
  return { type: "resource", user, verb, group, version, resource, subresource, namespace, name };
}

function accessStatus(authorizer: Authorizer, attributes: AccessAttributes): object {
  const { allowed, reason } = authorizer.authorize(attributes);
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function shownUser({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
