import { matchesLabels, SelectorError } from "setpoint/kinds";
import { Namespace } from "setpoint/kinds/v1";
import { AgentsError } from "../errors.js";
import { Agent } from "../kinds/agent.js";
import type { AllowedNamespaces } from "../kinds/parts.js";
import { RemoteMCPServer } from "../kinds/remote-mcp-server.js";
import { type Objects, required } from "../translate/objects.js";
import { toolServerKind } from "../translate/tool-server.js";

/** Throws `AGENTS_REFERENCE_DENIED` if an Agent refers to an object of another namespace that does not allow it. */
export async function checkNamespaces(
  objects: Objects,
  { metadata, spec }: Agent,
  watched: readonly string[] | undefined,
): Promise<void> {
  if (spec.type !== "Declarative") return;
  const own = metadata.namespace!;
  for (const [at, { mcpServer, agent }] of (spec.declarative?.tools ?? []).entries()) {
    const reference = mcpServer ?? agent;
    const namespace = reference?.namespace || own;
    if (!reference || namespace === own) continue;
    const kind = mcpServer ? toolServerKind(mcpServer) : "Agent";
    const what = `${kind} ${namespace}/${reference.name}`;
    const denied = (why: string): AgentsError =>
      new AgentsError("AGENTS_REFERENCE_DENIED", `spec.declarative.tools[${at}]: ${what} ${why}`);
    if (kind !== "RemoteMCPServer" && kind !== "Agent") throw denied("cannot be used from another namespace");
    if (watched && !watched.includes(namespace)) throw denied("is in a namespace that the operator does not watch");
    const target = await required(objects, kind === "Agent" ? Agent : RemoteMCPServer, reference.name, namespace);
    if (!(await admits(objects, target.spec.allowedNamespaces, own))) {
      throw denied(`does not allow the namespace ${own}: see its allowedNamespaces`);
    }
  }
}

async function admits(objects: Objects, allowed: AllowedNamespaces | undefined, namespace: string): Promise<boolean> {
  if (allowed?.from === "All") return true;
  if (allowed?.from !== "Selector" || !allowed.selector) return false;
  const { metadata } = await required(objects, Namespace, namespace, "");
  try {
    return matchesLabels(allowed.selector as never, metadata.labels);
  } catch (error) {
    // An invalid selector allows no namespace. Its own object reports the problem in its status.
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
