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

/** A write as a thread tries it out: on the few objects that its outcome depends on, and without admission. */
export interface Rehearsal {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadCall["request"]["headers"];
  readonly body: Uint8Array;
  readonly user: UserInfo;
  /** By the clock of the control plane. */
  readonly nowMs: number;
  /** `group/plural`, and `/status` where the write is one to that. */
  readonly endpoint: string;
  /** Whether only to decode the object, because the rest is not an ordinary write. */
  readonly isReadAlone: boolean;
  readonly objects: readonly Pick<StoredObject, "resource" | "key" | "revision" | "json">[];
}

/** What a write makes of its body and of the object that is there. */
export interface MadeObject {
  /** The resourceVersion of that object; undefined where there is none. */
  readonly ofRevision: string | undefined;
  readonly json: SlicedJson;
  /** What a client is to know of it: what validation has warned of. */
  readonly warnings: readonly string[];
}

/** How a rehearsal ended. */
export type RehearsalEnd =
  | {
      readonly type: "refused";
      readonly response: ApiResponse & { readonly body: Uint8Array };
      /** What YAML says. */
      readonly yaml: YamlReading | undefined;
    }
  | RehearsalFine;

export interface RehearsalFine {
  readonly type: "fine";
  /** The object of the body as JSON, without what its kind does not know, where it was read alone. */
  readonly json: string | undefined;
  readonly made: MadeObject | undefined;
  readonly yaml: YamlReading | undefined;
  /** What a client is to know of the body. */
  readonly warnings: readonly string[];
}

/** What a thread needs to rehearse a call. */
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

/** Those who change objects on their way: what they make of one that is invalid may be valid. */
const MUTATORS = [
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
];

/** Whether the refusal of a rehearsal would be the answer of the write itself. */
export function isFinal({ status }: ApiResponse, storage: Storage): boolean {
  if (status === 422) return MUTATORS.every((resource) => storage.snapshot(resource)!.size === 0);
  return status === 400 || status === 413 || status === 415;
}

/** The request with what the rehearsal has read and made of its body. */
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
