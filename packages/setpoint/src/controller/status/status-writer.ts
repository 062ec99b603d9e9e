import { isConflict, isInvalid, isNotFound, isNotServed } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { type Condition, findCondition } from "../../kinds/condition.js";
import { conditionSupport } from "../../kinds/condition-support.js";
import type { Kind } from "../../kinds/kind.js";
import type { JsonObject, KubeObject } from "../../kinds/object.js";
import { changedPaths, diffToMergePatch, isEqual } from "../apply/field-paths.js";
import type { StatusDraft } from "./status-draft.js";

/** How often a status is merged anew into a newer state. */
const MAX_TRIES = 4;
/** How often a subresource must be missing, of an object that is there, until that is believed: a proxy may err once. */
const MAX_MISSED = 2;

export interface StatusWrite {
  /** The state that the status was merged into: where others were quicker, one that is newer than what was given. */
  readonly base: KubeObject;
  readonly answer: KubeObject;
  readonly paths: readonly string[];
  /** Types of conditions that the reconciler set and the server did not keep. */
  readonly dropped: readonly string[];
}

/** Writes the statuses of one kind: only what changed, and never over a state that was not looked at. */
export class StatusWriter {
  readonly #client: Client;
  readonly #kind: Kind;
  readonly #clock: Clock;
  readonly #fieldManager: string;
  /**
   * Kinds without a status subresource take it with the rest of the object. Found out by trying, and forgotten when a
   * server keeps nothing of a status that comes so.
   */
  #subresource: "status" | undefined = "status";
  #showsConditions: boolean;
  /** Fields of the status that the server does not keep: asking for them in every run would be a write in every run. */
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

  /** False where the kind has no status, or one without conditions, as declared or as the server has shown. */
  get showsConditions(): boolean {
    return this.#showsConditions;
  }

  /**
   * Writes what the draft changes of `object`, each request by `send`, which is told the paths. Undefined where nothing
   * changes, or the object is gone.
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
      // What another run learns while this one waits for its answer is not what this one has asked for.
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
        // A status with required fields that the reconciler has not set yet cannot show a condition of the runtime.
        if (isInvalid(error) && draft.isOptional) return undefined;
        // Nor can a schema that names the conditions it allows; what the reconciler said must not be lost by that.
        if (isInvalid(error) && draft.hasReport) {
          draft.dropReport();
          continue;
        }
        if (!subresource && isNotFound(error)) return undefined;
        // For custom resources without the subresource, servers say that the object is not there.
        const isMissed = subresource !== undefined && (isNotFound(error) || isNotServed(error));
        if ((!isMissed && !isConflict(error)) || attempt >= MAX_TRIES) throw error;
        if (isMissed) missed++;
      }
      // Throws where the kind itself is not served: that says nothing about its subresource.
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

  /** The object as the server has it; undefined where it is gone. */
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
      // Needed conditions are sent again each time, so that runs fail for as long as the server drops them.
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
    // The resourceVersion makes the server refuse the patch where the status was merged into something older.
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

/** A server of Go leaves such values out of its answer (`omitempty`), although it keeps the field. */
function isZero(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  return Object.keys(value).length === 0;
}
