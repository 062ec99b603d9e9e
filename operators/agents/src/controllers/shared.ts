import { createHash } from "node:crypto";
import type { Kind, ObjectOf, ReconcileContext } from "setpoint";
import type { Clock } from "setpoint/clock";
import type { Store } from "../database/store.js";
import type { HttpTarget } from "../discovery/http-exchange.js";
import type { McpTarget, ToolList } from "../discovery/mcp-session.js";
import type { Probes, ProbeTarget } from "../discovery/probes.js";
import type { Objects } from "../translate/objects.js";
import type { TranslateSettings } from "../translate/settings.js";
import type { UsageCounts } from "./usage.js";

export type ToolTarget = ProbeTarget & McpTarget;
export type ModelTarget = ProbeTarget & HttpTarget & { readonly answerList: string };

/** Dependencies shared by all controllers of the operator. */
export interface Shared {
  readonly store: Store;
  readonly clock: Clock;
  readonly tools: Probes<ToolTarget, ToolList>;
  readonly models: Probes<ModelTarget, readonly string[]>;
  readonly settings: TranslateSettings;
  readonly usage: UsageCounts;
  /** How often to list tools, unless the object has its own interval. */
  readonly refreshMs: number;
  /** The namespaces to watch; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
}

/** Tracked reads: the object is reconciled again when an object that the translation read changes or appears. */
export function trackedObjects(ctx: Pick<ReconcileContext, "find">): Objects {
  return {
    find: <K extends Kind>(kind: K, name: string, namespace: string): Promise<ObjectOf<K> | undefined> =>
      ctx.find(kind as never, name, namespace === "" ? {} : { namespace }) as Promise<ObjectOf<K> | undefined>,
  };
}

/** kagent's hash over Secrets: sorted by key, with keys and values concatenated without separators. */
export function secretHash(
  secrets: readonly { readonly key: string; readonly data: Readonly<Record<string, string>> }[],
): string {
  const hash = createHash("sha256");
  for (const { key, data } of [...secrets].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    hash.update(key);
    for (const name of Object.keys(data).sort()) hash.update(name).update(Buffer.from(data[name]!, "base64"));
  }
  return hash.digest("hex");
}

/** Truncates a condition message to 1,024 characters. */
export const shortened = (message: string): string =>
  message.length > 1_024 ? `${message.slice(0, 1_021)}...` : message;
