import type { KubeObject } from "setpoint";
import type { ApiResponse } from "../../api/api-request.js";
import { badRequest, StatusError, unsupportedMediaType } from "../../api/status-error.js";
import { decodeProtobufBody } from "../../protobuf/request-body.js";
import { contentTypeOf, readDocument } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { mediaTypesOf } from "../negotiation/accept.js";
import { answer } from "../negotiation/answer.js";
import { type DeleteOptions, parseDeleteOptions } from "../query/delete-options.js";
import { parseListOptions } from "../query/list-options.js";
import { managerOf, parseWriteOptions, type WriteOptions } from "../query/write-options.js";
import { listAnswer, listPage, presentationOf, presentObject, userAgentOf } from "../read/read-endpoints.js";
import { createPosted } from "./create.js";
import { decodedObject } from "./decoded-object.js";
import { remove } from "./delete.js";
import { tracked } from "./field-ownership.js";
import { update } from "./update.js";
import type { WriteRequest } from "./write-request.js";

/** Builds the write of a call, with its options as webhooks receive them. */
export function writeRequestOf(
  call: ResourceCall,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  options: WriteOptions,
  isApply = false,
): WriteRequest {
  const { definition, namespace, user, request, warn, authorizeCreate, subresource } = call;
  return {
    definition,
    namespace,
    subresource: subresource?.name ?? "",
    user,
    fieldManager: managerOf(options.fieldManager, userAgentOf(call)),
    isDryRun: options.isDryRun,
    options: {
      kind,
      apiVersion: "meta.k8s.io/v1",
      ...(isApply && { force: options.force }),
      ...(options.isDryRun && { dryRun: ["All"] }),
      ...(options.fieldManager !== "" && { fieldManager: options.fieldManager }),
      ...(request.query.has("fieldValidation") && { fieldValidation: options.fieldValidation }),
    },
    authorizeCreate,
    warn,
    signal: request.signal,
    ...(request.proposal && { proposal: request.proposal }),
    ...(request.pause && { pause: request.pause }),
  };
}

export async function createObject(call: ResourceCall): Promise<ApiResponse> {
  const { environment, request } = call;
  const options = parseWriteOptions(request.query, "CreateOptions");
  const decode = () => decodedObject(call, options.fieldValidation);
  const created = await createPosted(environment, writeRequestOf(call, "CreateOptions", options), decode);
  return presentObject(call, 201, created);
}

export async function updateObject(call: ResourceCall): Promise<ApiResponse> {
  const { environment, name, request } = call;
  const options = parseWriteOptions(request.query, "UpdateOptions");
  const write = writeRequestOf(call, "UpdateOptions", options);
  // A rehearsal has already checked the object against the path.
  const object = request.proposal?.hasMade ? undefined : objectOfPath(call, options);
  const uid = object?.metadata.uid;
  const result = await update(environment, write, {
    name,
    transform: (old) => tracked(environment, write, old, object ?? objectOfPath(call, options)),
    ...(uid && { expectedUid: uid }),
  });
  return presentObject(call, result.isCreated ? 201 : 200, result.object);
}

/** Decodes the object of an update. It must match the path. */
function objectOfPath(call: ResourceCall, { fieldValidation }: WriteOptions): KubeObject {
  const { name } = call;
  const object = decodedObject(call, fieldValidation);
  const given: string | undefined = object.metadata?.name;
  if (!given) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  return object;
}

export function deleteWrite(call: ResourceCall, options: DeleteOptions): WriteRequest {
  const { definition, namespace, user, request, warn, authorizeCreate } = call;
  const { isDryRun, ...rest } = options;
  return {
    definition,
    namespace,
    subresource: "",
    user,
    fieldManager: "",
    isDryRun,
    options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...rest, ...(isDryRun && { dryRun: ["All"] }) },
    authorizeCreate,
    warn,
    signal: request.signal,
  };
}

/** Job is the only kind whose dependents are orphaned by default. */
const JOB_WARNING =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

export async function deleteObject(call: ResourceCall): Promise<ApiResponse> {
  const { environment, definition, name } = call;
  const options = deleteOptionsOf(call);
  const { propagationPolicy, orphanDependents } = options;
  if (definition.storageId === "batch/jobs" && propagationPolicy === undefined && orphanDependents === undefined) {
    call.warn(JOB_WARNING);
  }
  const { object, isGone } = await remove(environment, deleteWrite(call, options), { name, options });
  const isAccepted = !isGone && options.orphanDependents === false;
  if (!isGone || definition.strategy.returnsDeletedObject) return presentObject(call, isAccepted ? 202 : 200, object);
  const { group, plural } = definition;
  return answer(
    200,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name, ...(group !== "" && { group }), kind: plural, uid: object.object.metadata.uid },
    },
    call.representation,
  );
}

/** Deletes the listed objects one by one. Ignores objects that are already gone. */
export async function deleteObjects(call: ResourceCall): Promise<ApiResponse> {
  const { environment, request } = call;
  const deletion = deleteOptionsOf(call);
  const options = parseListOptions(request.query);
  const page = await listPage(call, options);
  for (const { object } of page.items) {
    const { namespace = "", name } = object.metadata;
    try {
      await remove(environment, deleteWrite({ ...call, namespace }, deletion), { name, options: deletion });
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 404) throw error;
    }
  }
  return listAnswer(call, presentationOf(call, true), page);
}

function deleteOptionsOf({ request, environment, definition }: ResourceCall): DeleteOptions {
  if (request.body.byteLength === 0) return parseDeleteOptions(undefined, request.query);
  const type = contentTypeOf(request);
  if (type === "application/vnd.kubernetes.protobuf") {
    const expected = { apiVersion: "v1", kind: "DeleteOptions" };
    return parseDeleteOptions(decodeProtobufBody(environment.facts, request.body, expected), request.query);
  }
  if (type !== "" && type !== "application/json" && type !== "application/yaml") {
    throw unsupportedMediaType(mediaTypesOf(definition.isBuiltIn));
  }
  const { value } = readDocument(request, type === "application/yaml", badRequest);
  return parseDeleteOptions(value, request.query);
}
