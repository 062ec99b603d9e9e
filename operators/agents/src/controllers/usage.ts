import type { Clock } from "setpoint/clock";
import type { Agent } from "../kinds/agent.js";
import { type ToolServerReference, toolServerKind } from "../translate/tool-server.js";

/** Indexes of Agents by what they use, for the counts on model configurations and tool servers. */

const GROUP_KINDS = {
  RemoteMCPServer: "RemoteMCPServer.kagent.dev",
  MCPServer: "MCPServer.kagent.dev",
  Service: "Service",
};

export const groupKindOf = (kind: keyof typeof GROUP_KINDS): string => GROUP_KINDS[kind];

export function modelsOf({ metadata, spec }: Agent): readonly string[] {
  const { modelConfig, memory, context } = spec.declarative ?? {};
  const names = [modelConfig, memory?.modelConfig, context?.compaction?.summarizer?.modelConfig];
  return [...new Set(names.flatMap((name) => (name ? [`${metadata.namespace}/${name}`] : [])))];
}

export function serverKeyOf(reference: ToolServerReference, agentNamespace: string): string | undefined {
  const kind = toolServerKind(reference);
  return kind && `${GROUP_KINDS[kind]} ${reference.namespace || agentNamespace}/${reference.name}`;
}

export function serversOf({ metadata, spec }: Agent): readonly string[] {
  const tools = spec.declarative?.tools ?? [];
  const keys = tools.map(({ mcpServer }) => mcpServer && serverKeyOf(mcpServer, metadata.namespace ?? ""));
  return [...new Set(keys.filter((key) => key !== undefined))];
}

const SPACING_MS = 10_000;

/**
 * Limits how often usage counts are written. Each status write requeues every agent that reads the object, so many new
 * agents at once would requeue each other.
 */
export class UsageCounts {
  readonly #clock: Clock;
  readonly #written = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The count to write now, and the requeue delay if that is not the latest. */
  next(key: string, shown: number | undefined, users: number): { readonly count: number; readonly againMs?: number } {
    if (shown === users) return { count: users };
    const nowMs = this.#clock.monotonic();
    const sinceMs = nowMs - (this.#written.get(key) ?? Number.NEGATIVE_INFINITY);
    if (shown !== undefined && sinceMs < SPACING_MS) return { count: shown, againMs: SPACING_MS - sinceMs };
    this.#written.set(key, nowMs);
    return { count: users };
  }
}
