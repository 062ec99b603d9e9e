import type { KubeObject } from "setpoint";
import type { ApiResponse } from "../../api/api-request.js";
import type { UserInfo } from "../../api/user.js";
import type { Storage, StoredObject } from "../../storage/storage.js";
import { CRD_STORAGE } from "../crd/custom-resource-definition.js";
import type { ReadCall } from "../endpoint.js";
import { type Proposal, storageKey } from "../write/write-request.js";
import { readSliced, type SlicedJson } from "./sliced-json.js";
import type { YamlReading } from "./yaml-text.js";

type Request = ReadCall["request"];

/** A write for a thread to rehearse, without admission. Contains only the objects that the outcome depends on. */
export interface Rehearsal {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadCall["request"]["headers"];
  readonly body: Uint8Array;
  readonly user: UserInfo;
  /** Time on the control plane's clock. */
  readonly nowMs: number;
  /** `group/plural`, plus `/status` for a write to the status. */
  readonly endpoint: string;
  /** Only decode the object, because the endpoint is not an ordinary write. */
  readonly isReadAlone: boolean;
  readonly objects: readonly Pick<StoredObject, "resource" | "key" | "revision" | "json">[];
}

/** The object that a write produces from its body and the stored object. */
export interface MadeObject {
  /** The resourceVersion of the stored object; undefined if there is none. */
  readonly ofRevision: string | undefined;
  readonly json: SlicedJson;
  /** Warnings of validation. */
  readonly warnings: readonly string[];
}

/** The outcome of a rehearsal. */
export type RehearsalEnd =
  | {
      readonly type: "refused";
      readonly response: ApiResponse & { readonly body: Uint8Array };
      /** The parsed YAML body. */
      readonly yaml: YamlReading | undefined;
    }
  | RehearsalFine;

export interface RehearsalFine {
  readonly type: "fine";
  /** The pruned object of the body as JSON, if the rehearsal only decoded it. */
  readonly json: string | undefined;
  readonly made: MadeObject | undefined;
  readonly yaml: YamlReading | undefined;
  /** Warnings about the body. */
  readonly warnings: readonly string[];
}

/** Collects what a thread needs to rehearse a call. */
export function rehearsalOf(call: ReadCall, storage: Storage, isReadAlone: boolean): Rehearsal {
  const { definition, request, namespace, name, user } = call;
  const { group, plural, storageId } = definition;
  const objects = [
    definition.isBuiltIn ? undefined : storage.get(CRD_STORAGE, `${plural}.${group}`),
    name === "" ? undefined : storage.head(storageId, storageKey(namespace, name)),
  ];
  const { method, path, query, headers, body } = request;
  return {
    ...{ method, path, query: query.toString(), headers, body, user, isReadAlone },
    nowMs: call.environment.clock.now(),
    endpoint: `${group}/${plural}${call.subresource?.name === "status" ? "/status" : ""}`,
    objects: objects.flatMap((stored) => {
      if (stored === undefined) return [];
      const { resource, key, revision, json } = stored;
      return [{ resource, key, revision, json }];
    }),
  };
}

/** Mutating admission: it may turn an invalid object into a valid one. */
const MUTATORS = [
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
];

/** Whether the write itself would get the same error as the rehearsal. */
export function isFinal({ status }: ApiResponse, storage: Storage): boolean {
  if (status === 422) return MUTATORS.every((resource) => storage.snapshot(resource)!.size === 0);
  return status === 400 || status === 413 || status === 415;
}

/** The request with the results of the rehearsal. */
export async function rehearsed(
  request: Request,
  { json, made, yaml }: Omit<RehearsalFine, "type" | "warnings">,
): Promise<Request> {
  const read = yaml === undefined ? request : { ...request, yaml };
  if (made !== undefined) return { ...read, proposal: await proposalOf(made, request.pause) };
  if (json === undefined) return read;
  return { ...read, headers: { ...request.headers, "content-type": "application/json" }, body: Buffer.from(json) };
}

async function proposalOf({ ofRevision, json, warnings }: MadeObject, pause?: () => Promise<void>): Promise<Proposal> {
  const made = (await readSliced(json, pause)) as unknown as KubeObject;
  return {
    hasMade: true,
    take: (old) => (old?.metadata.resourceVersion === ofRevision ? made : undefined),
    keep: () => {},
    validated: (object) => (object === made ? warnings : undefined),
  };
}
