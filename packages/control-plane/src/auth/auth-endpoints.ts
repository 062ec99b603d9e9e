import type { KubeObject } from "setpoint";
import type { ApiResponse } from "../api/api-request.js";
import type { JsonObject } from "../api/json.js";
import { badRequest } from "../api/status-error.js";
import { trackUpdate } from "../apply/field-manager.js";
import { laidOut } from "../apply/object-layout.js";
import { builtInShape } from "../builtin/built-in-shape.js";
import { BuiltInDefaults } from "../builtin/defaults/built-in-defaults.js";
import type { Facts } from "../facts/facts.js";
import type { ObjectShape } from "../kinds/resource-definition.js";
import type { Strategy } from "../kinds/strategy.js";
import type { Endpoint, ResourceCall } from "../registry/endpoint.js";
import { parseWriteOptions } from "../registry/query/write-options.js";
import { presentMade } from "../registry/read/read-endpoints.js";
import { admit, validateAdmission } from "../registry/write/admission-chain.js";
import { decodedObject } from "../registry/write/decoded-object.js";
import { tracked } from "../registry/write/field-ownership.js";
import { writeRequestOf } from "../registry/write/write-endpoints.js";
import { answerReview, type ReviewEnvironment } from "./review.js";
import type { ServiceAccountTokens } from "./service-account-tokens.js";
import { createToken, type TokenRequest } from "./token-request.js";

export interface AuthEndpointOptions extends Omit<ReviewEnvironment, "clock"> {
  readonly serviceAccountTokens: ServiceAccountTokens;
}

const REVIEWS = [
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
];

/** Endpoints that store nothing: access reviews, token reviews and service account tokens. */
export function authEndpoints(options: AuthEndpointOptions): ReadonlyMap<string, Endpoint> {
  const review: Endpoint = (call) => reviewEndpoint(options, call);
  const endpoints = new Map(REVIEWS.map((resource) => [resource, review]));
  let shape: ObjectShape | undefined;
  return endpoints.set("/serviceaccounts/token", (call) => {
    shape ??= tokenRequestShape(call.environment.facts);
    return tokenEndpoint(options, call, shape);
  });
}

async function reviewEndpoint(options: AuthEndpointOptions, call: ResourceCall): Promise<ApiResponse> {
  const { environment, request, user, namespace, definition } = call;
  const writeOptions = parseWriteOptions(request.query, "CreateOptions");
  const write = writeRequestOf(call, "CreateOptions", writeOptions);
  const decoded = placed(decodedObject(call, writeOptions.fieldValidation), definition.namespaced ? namespace : "");
  const owned = tracked(environment, write, undefined, decoded);
  const admitted = (await admit(environment, write, "CREATE", "", owned, undefined)) ?? owned;
  await validateAdmission(environment, write, "CREATE", "", admitted, undefined);
  const answered = answerReview({ ...options, clock: environment.clock }, admitted, { user, namespace });
  return presentMade(call, 201, answered);
}

/** Sets the namespace from the path. A cluster-scoped review has none. */
function placed(object: KubeObject, namespace: string): KubeObject {
  const given = object.metadata?.namespace;
  if (namespace !== "" && given && given !== namespace) throw namespaceMismatch();
  return laidOut(
    { ...object, metadata: { ...object.metadata, namespace } } as KubeObject,
    object.apiVersion,
    object.kind,
  );
}

function namespaceMismatch() {
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

const TOKEN_REQUEST = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
const DEFAULT_SECONDS = 3600;

function tokenRequestShape(facts: Facts): ObjectShape {
  const { group, version, kind } = TOKEN_REQUEST;
  return builtInShape(facts, new BuiltInDefaults(facts.components), group, version, kind);
}

async function tokenEndpoint(
  options: AuthEndpointOptions,
  call: ResourceCall,
  shape: ObjectShape,
): Promise<ApiResponse> {
  const { environment, request, namespace, name, definition } = call;
  const { facts, clock, storage } = environment;
  const writeOptions = parseWriteOptions(request.query, "CreateOptions");
  const write = writeRequestOf(call, "CreateOptions", writeOptions);
  const asTokenRequest = { ...call, definition: { ...definition, ...TOKEN_REQUEST, shape, strategy: PLAIN } };
  const decoded = decodedObject(asTokenRequest, writeOptions.fieldValidation) as TokenRequest;
  if (decoded.metadata?.namespace && decoded.metadata.namespace !== namespace) throw namespaceMismatch();
  const { apiVersion, kind } = decoded;
  const expirationSeconds = decoded.spec?.expirationSeconds ?? DEFAULT_SECONDS;
  const asked = laidOut({ ...decoded, spec: { ...decoded.spec, expirationSeconds } } as TokenRequest, apiVersion, kind);
  const owned = trackUpdate(
    {
      apiVersion,
      kind,
      subresource: "token",
      manager: write.fieldManager,
      nowMs: clock.now(),
      message: facts.messageOf(apiVersion, kind),
      schemaOf: () => facts.schemaOf(TOKEN_REQUEST.group, TOKEN_REQUEST.version, kind),
    },
    undefined,
    asked as unknown as JsonObject,
  ) as unknown as TokenRequest;
  const admitted = ((await admit(environment, write, "CREATE", name, owned, undefined)) ?? owned) as TokenRequest;
  await validateAdmission(environment, write, "CREATE", name, admitted, undefined);
  const { audiences, serviceAccountTokens: tokens } = options;
  const issued = createToken({ storage, tokens, audiences, nowMs: clock.now() }, admitted, namespace, name);
  return presentMade(call, 201, laidOut(issued, apiVersion, kind));
}

/** The strategy of a token request, which is never stored. */
const PLAIN: Strategy = {
  hasGeneration: false,
  hasStatus: false,
  allowsUnconditionalUpdate: false,
  returnsDeletedObject: false,
};
