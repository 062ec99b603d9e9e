import { type Controller, controller, done, requeueAfter, scoped, terminal, waitFor } from "setpoint";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { AgentsError, invalidSpec } from "../errors.js";
import { Agent } from "../kinds/agent.js";
import { RemoteMCPServer } from "../kinds/remote-mcp-server.js";
import { describeProblems, remoteServerProblems } from "../spec-problems.js";
import { ofRemoteMcpServer } from "../translate/tool-server.js";
import { discovered, sweep } from "./server-rows.js";
import { type Shared, secretHash, trackedObjects } from "./shared.js";
import {
  caSecret,
  discoverTools,
  fittingTools,
  listedMessage,
  probeIdOf,
  serverIdOf,
  storeServer,
} from "./tool-discovery.js";
import { serversOf } from "./usage.js";

/** Lists the tools of remote MCP servers, and reports the result in their status. */
export function remoteMcpServers(shared: Shared): Controller<RemoteMCPServer> {
  return controller(RemoteMCPServer, {
    name: "remotemcpservers",
    uses: [Secret, ConfigMap, scoped(Agent, { indexes: { servers: serversOf } })],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    triggers: [discovered("RemoteMCPServer.kagent.dev", shared), sweep("RemoteMCPServer.kagent.dev", shared)],
    async reconcile(server, ctx) {
      const tool = ofRemoteMcpServer(server);
      const id = probeIdOf(serverIdOf(tool));
      const accepted = (status: "True" | "False" | "Unknown", reason: string, message: string): void =>
        ctx.condition({ type: "Accepted", status, reason, message });
      const users = (await ctx.byIndex(Agent, { servers: id })).length;
      ctx.status({ observedGeneration: server.metadata.generation ?? 0 });
      // The published CRD lacks usedBy and drops it. Skip it there, or every run would write it again.
      const usage = shared.usage.next(id, server.status?.usedBy, users);
      if (server.status === undefined || server.status.usedBy !== undefined) ctx.status({ usedBy: usage.count });
      await storeServer(serverIdOf(tool), server, tool.description, shared, ctx);
      const problems = remoteServerProblems(server);
      if (problems.length > 0) {
        shared.tools.forget(id);
        accepted("False", "InvalidSpec", describeProblems(problems));
        return terminal(invalidSpec(describeProblems(problems)));
      }
      const objects = trackedObjects(ctx);
      try {
        const ca = await caSecret(server.spec.tls, tool.namespace, objects);
        const key = `${tool.namespace}/${server.spec.tls?.caCertSecretRef}`;
        ctx.status({ secretHash: ca ? secretHash([{ key, data: ca.data ?? {} }]) : null });
        const found = await discoverTools(tool, server, objects, shared, ctx);
        const fitting = fittingTools(found.tools);
        if (found.type !== "pending" || fitting.length > 0) ctx.status({ discoveredTools: [...fitting] });
        if (found.type === "listed") accepted("True", "Reconciled", listedMessage(found.tools.length, fitting.length));
        else if (found.type === "failed") accepted("False", found.reason, found.message);
        else if (server.status?.observedGeneration !== server.metadata.generation) {
          accepted("Unknown", "Connecting", "waiting for the first answer of the server");
        }
        return usage.againMs === undefined ? done() : requeueAfter(usage.againMs);
      } catch (error) {
        if (!(error instanceof AgentsError) || error.code !== "AGENTS_REFERENCE_MISSING") throw error;
        shared.tools.forget(id);
        accepted("False", "ReferenceMissing", error.message);
        return waitFor("ReferenceMissing", { message: error.message });
      }
    },
  });
}
