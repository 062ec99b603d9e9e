import { isConflict, isInvalid, isNotFound, isNotServed } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { type Condition, findCondition } from "../../kinds/condition.js";
import { conditionSupport } from "../../kinds/condition-support.js";
import type { Kind } from "../../kinds/kind.js";
import type { JsonObject, KubeObject } from "../../kinds/object.js";
import { changedPaths, diffToMergePatch, isEqual } from "../apply/field-paths.js";
import type { StatusDraft } from "./status-draft.js";

/** How often to merge a status again into a newer state. */
const MAX_TRIES = 4;
/** How often the subresource of an existing object must be missing before the writer believes it: a proxy may be wrong once. */
const MAX_MISSED = 2;

export interface StatusWrite {
  /** The state that the status was merged into; newer than the given one if others wrote in between. */
  readonly base: KubeObject;
  readonly answer: KubeObject;
  readonly paths: readonly string[];
  /** Types of conditions that the reconciler set and the server dropped. */
  readonly dropped: readonly string[];
}

/** Writes the statuses of one kind: only changes, and never over an unknown state. */
export class StatusWriter {
  readonly #client: Client;
  readonly #kind: Kind;
  readonly #clock: Clock;
  readonly #fieldManager: string;
  /**
   * Kinds without a status subresource take the status with the rest of the object. The writer finds out by trying, and
   * forgets it when a server keeps nothing of such a status.
   */
  #subresource: "status" | undefined = "status";
  #showsConditions: boolean;
  /** Status fields that the server drops: sending them in every run would be a write in every run. */
  readonly #pruned = new Set<string>();
  readonly #areConditionsOptional: boolean;

  constructor(client: Client, kind: Kind, clock: Clock, fieldManager: string, areConditionsOptional = false) {
    this.#client = client;
    this.#kind = kind;
    this.#clock = clock;
    this.#fieldManager = fieldManager;
    this.#showsConditions = conditionSupport(kind) !== "none";
    this.#areConditionsOptional = areConditionsOptional;
  }

  /** False if the kind has no status, or one without conditions, as declared or as seen on the server. */
  get showsConditions(): boolean {
    return this.#showsConditions;
  }

  /**
   * Writes the draft's changes of `object`, each request by `send`, which gets the paths. Undefined if nothing changes,
   * or the object is gone.
   */
  async write(
    object: KubeObject,
    draft: StatusDraft,
    signal: AbortSignal,
    send: (request: () => Promise<KubeObject>, paths: readonly string[]) => Promise<KubeObject>,
  ): Promise<StatusWrite | undefined> {
    let before = object;
    let missed = 0;
    for (let attempt = 1; ; attempt++) {
      const current = statusOf(before);
      const next = this.#kept(draft.applyTo(before, this.#clock.now()));
      if (isEqual(current ?? {}, next ?? {})) return undefined;
      const paths = changedPaths({ status: current ?? {} }, { status: next });
      // Another run may change it while this one waits for its response.
      const subresource = this.#subresource;
      try {
        const patch = diffToMergePatch(current ?? {}, next) as JsonObject;
        const state = before;
        const answer = await send(() => this.#patch(state, patch, subresource, signal), paths);
        const isIgnored = !subresource && isEqual(current ?? {}, statusOf(answer) ?? {});
        if (isIgnored) this.#subresource = "status";
        else this.#learnFrom(next, answer);
        const dropped = this.#areConditionsOptional ? [] : droppedFrom(draft, answer);
        if (!isIgnored || missed > 0) return { base: state, answer, paths, dropped };
        before = answer;
        continue;
      } catch (error) {
        // A status that lacks required fields, which the reconciler has not set yet, cannot show a condition of the
        // runtime.
        if (isInvalid(error) && draft.isOptional) return undefined;
        // Nor can a schema that lists the allowed conditions. Keep what the reconciler said.
        if (isInvalid(error) && draft.hasReport) {
          draft.dropReport();
          continue;
        }
        if (!subresource && isNotFound(error)) return undefined;
        // For custom resources without the subresource, servers answer that the object does not exist.
        const isMissed = subresource !== undefined && (isNotFound(error) || isNotServed(error));
        if ((!isMissed && !isConflict(error)) || attempt >= MAX_TRIES) throw error;
        if (isMissed) missed++;
      }
      // Throws if the kind itself is not served, which says nothing about its subresource.
      const fresh = await this.#fresh(object, signal);
      if (!fresh) return undefined;
      before = fresh;
      if (missed < MAX_MISSED) continue;
      if (draft.isOptional) {
        this.#showsConditions = false;
        return undefined;
      }
      this.#subresource = undefined;
    }
  }

  /** The object on the server; undefined if it is gone. */
  async #fresh({ metadata }: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { name, namespace, uid } = metadata;
    const found = await this.#client.find(this.#kind, name, { namespace, signal });
    return found?.metadata.uid === uid ? found : undefined;
  }

  #learnFrom(wanted: unknown, answer: KubeObject): void {
    const kept = (statusOf(answer) ?? {}) as Readonly<Record<string, unknown>>;
    for (const [field, value] of Object.entries(wanted ?? {})) {
      if (kept[field] !== undefined || isZero(value)) continue;
      if (field === "conditions") this.#showsConditions = false;
      // Send required conditions again each time, so that runs fail for as long as the server drops them.
      if (field !== "conditions" || this.#areConditionsOptional) this.#pruned.add(field);
    }
  }

  #kept(status: unknown): unknown {
    if (this.#pruned.size === 0) return status;
    return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !this.#pruned.has(field)));
  }

  #patch(
    before: KubeObject,
    status: JsonObject,
    subresource: "status" | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { name, namespace, uid, resourceVersion } = before.metadata;
    // The resourceVersion makes the server refuse the patch if the status was merged into an older state.
    const body = { metadata: { uid, resourceVersion }, status };
    return this.#client.patch(
      this.#kind,
      name,
      { type: "merge", body },
      { namespace, signal, fieldManager: this.#fieldManager, ...(subresource ? { subresource } : {}) },
    );
  }
}

function droppedFrom(draft: StatusDraft, answer: KubeObject): readonly string[] {
  const { conditions } = (statusOf(answer) ?? {}) as { readonly conditions?: readonly Condition[] };
  return draft.conditionTypes.filter((type) => !findCondition(conditions, type));
}

function statusOf(object: KubeObject): unknown {
  return (object as { readonly status?: unknown }).status;
}

/** Go servers omit such values from responses (`omitempty`), although they store the field. */
function isZero(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  return Object.keys(value).length === 0;
}
