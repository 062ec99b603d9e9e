import {
  type Condition,
  type Controller,
  controller,
  done,
  findCondition,
  isSetpointError,
  type Kind,
  type KubeObject,
  type ReconcileContext,
  scoped,
  terminal,
  waitFor,
} from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Service, ServiceAccount } from "setpoint/kinds/v1";
import { invalidSpec } from "../errors.js";
import { Agent } from "../kinds/agent.js";
import { MCPServer } from "../kinds/mcp-server.js";
import { describeProblems, mcpServerProblems } from "../spec-problems.js";
import { ofMcpServer, ofService, SERVICE_LABEL } from "../translate/tool-server.js";
import { serverManifest } from "./kmcp.js";
import { discovered, sweep } from "./server-rows.js";
import { type Shared, shortened, trackedObjects } from "./shared.js";
import { type Discovered, discoverTools, listedMessage, probeIdOf, serverIdOf, storeServer } from "./tool-discovery.js";
import { serversOf } from "./usage.js";

/** Set to `disabled` to stop the operator from listing the tools of an MCPServer. */
export const DISCOVERY_LABEL = "kagent.dev/discovery";

/** Reconciles MCPServers as kmcp does, and lists their tools. */
export function mcpServers(shared: Shared): Controller<MCPServer> {
  return controller(MCPServer, {
    name: "mcpservers",
    owns: [Deployment, Service, ConfigMap, ServiceAccount],
    uses: [scoped(Agent, { indexes: { servers: serversOf } })],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    triggers: [discovered("MCPServer.kagent.dev", shared), sweep("MCPServer.kagent.dev", shared)],
    async reconcile(server, ctx) {
      ctx.status({ observedGeneration: server.metadata.generation ?? 0 });
      const set = (type: string, isTrue: boolean, reason: string, message: string): void =>
        ctx.condition({ type, status: isTrue ? "True" : "False", reason, message });
      const id = { name: `${server.metadata.namespace}/${server.metadata.name}`, groupKind: "MCPServer.kagent.dev" };
      const isDisabled = server.metadata.labels?.[DISCOVERY_LABEL] === "disabled";
      if (isDisabled) {
        shared.tools.forget(probeIdOf(id));
        const forget = () => shared.store.deleteServer(id, server.metadata.uid!);
        await ctx.effect("forget the tool server", forget, { planned: false });
        set("ToolsDiscovered", false, "DiscoveryDisabled", `the label ${DISCOVERY_LABEL} says so`);
      } else await storeServer(id, server, "", shared, ctx);
      const problems = mcpServerProblems(server);
      if (problems.length > 0) {
        const message = describeProblems(problems);
        set("Accepted", false, "InvalidConfig", message);
        set("ResolvedRefs", false, "InvalidConfig", "Configuration validation failed");
        set("Programmed", false, "InvalidConfig", "Configuration validation failed");
        set("Ready", false, "PodsNotReady", "Configuration validation failed");
        if (!isDisabled) set("ToolsDiscovered", false, "InvalidConfig", "Configuration validation failed");
        shared.tools.forget(probeIdOf(id));
        return terminal(invalidSpec(message));
      }
      set("Accepted", true, "Accepted", "MCPServer configuration is valid");
      set("ResolvedRefs", true, "ResolvedRefs", "All references resolved successfully");
      const { deployment, service, configMap, serviceAccount } = serverManifest(server);
      const apply = (kind: Kind, object: object) => applyChild(ctx as never, server, kind, object);
      try {
        if (serviceAccount) await apply(ServiceAccount, serviceAccount);
        await apply(ConfigMap, configMap);
        await apply(Service, service);
        const applied = (await apply(Deployment, deployment)) as Deployment;
        await ctx.prune(ServiceAccount, ConfigMap);
        set("Programmed", true, "Programmed", "All resources created successfully");
        const { availableReplicas = 0, replicas = 0 } = applied.status ?? {};
        const isReady = availableReplicas > 0 && availableReplicas === replicas;
        const message = isReady
          ? "Deployment is ready and all pods are running"
          : `Deployment not ready: ${availableReplicas}/${replicas} replicas available`;
        set("Ready", isReady, isReady ? "Available" : "NotAvailable", message);
      } catch (error) {
        const message = shortened((error as Error).message);
        const isConflict = isSetpointError(error, "CHILD_NOT_OWNED");
        set("Programmed", false, isConflict ? "Conflict" : "DeploymentFailed", message);
        set("Ready", false, "PodsNotReady", "Resources failed to be created");
        if (!isDisabled) setDiscovered(ctx, server, "ToolsDiscovered", { type: "pending", tools: [] }, 0);
        if (isConflict) return waitFor("Conflict", { message });
        throw error;
      }
      if (isDisabled) return;
      const users = (await ctx.byIndex(Agent, { servers: probeIdOf(id) })).length;
      const found = await discoverTools(ofMcpServer(server), server, trackedObjects(ctx), shared, ctx);
      setDiscovered(ctx, server, "ToolsDiscovered", found, users);
    },
  });
}

/** Applies a child. Adopts children that kmcp created: their owner reference lacks `controller: true`. */
async function applyChild(
  ctx: ReconcileContext,
  { metadata }: MCPServer,
  kind: Kind,
  object: object,
): Promise<KubeObject> {
  const found = await ctx.find(kind as never, metadata.name, { tracked: false });
  const isOurs = (found as KubeObject | undefined)?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid);
  try {
    return await ctx.apply(kind as never, object as never, {
      ...(kind === (Deployment as Kind) ? { yields: ["spec.replicas"] } : {}),
      existing: isOurs ? "adopt" : "refuse",
    });
  } catch (error) {
    // A tracked read: requeues the server when the foreign object of that name is deleted.
    if (isSetpointError(error, "CHILD_NOT_OWNED")) await ctx.find(kind as never, metadata.name);
    throw error;
  }
}

/** Lists the tools of Services that are labelled as tool servers. */
export function toolServices(shared: Shared): Controller<Service> {
  return controller(Service, {
    name: "mcp-services",
    labelSelector: `${SERVICE_LABEL}=true`,
    uses: [scoped(Agent, { indexes: { servers: serversOf } })],
    // The controller writes its condition into the Service's status.
    permissions: [{ apiGroups: [""], resources: ["services/status"], verbs: ["patch"] }],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    triggers: [discovered("Service", shared), sweep("Service", shared)],
    async reconcile(service, ctx) {
      const { name, namespace = "" } = service.metadata;
      const id = serverIdOf({ kind: "Service", name, namespace });
      await storeServer(id, service, "", shared, ctx);
      let server: ReturnType<typeof ofService>;
      try {
        server = ofService(service);
        if (!URL.canParse(server.url)) throw invalidSpec(`metadata.annotations: they make no URL: ${server.url}`);
      } catch (error) {
        shared.tools.forget(probeIdOf(id));
        ctx.condition({
          type: SERVICE_CONDITION,
          status: "False",
          reason: "InvalidSpec",
          message: (error as Error).message,
        });
        return terminal(error);
      }
      const users = (await ctx.byIndex(Agent, { servers: probeIdOf(id) })).length;
      const found = await discoverTools(server, service, trackedObjects(ctx), shared, ctx);
      setDiscovered(ctx, service, SERVICE_CONDITION, found, users);
      return done();
    },
  });
}

/** Other controllers also write conditions of Services, so ours has a qualified type. */
const SERVICE_CONDITION = "kagent.dev/ToolsDiscovered";

function setDiscovered(
  ctx: Pick<ReconcileContext, "condition">,
  { metadata, status }: KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
  found: Discovered,
  users: number,
): void {
  const shown = findCondition(status?.conditions, type);
  // Works for a Service, too: it has no generation, so both sides are undefined.
  const isCurrent = shown !== undefined && shown.observedGeneration === metadata.generation;
  const usage = `used by ${users} agent${users === 1 ? "" : "s"}`;
  if (found.type === "listed") {
    const message = `${listedMessage(found.tools.length, found.tools.length)}; ${usage}`;
    ctx.condition({ type, status: "True", reason: "Discovered", message });
  } else if (found.type === "failed") {
    ctx.condition({ type, status: "False", reason: found.reason, message: `${found.message}; ${usage}` });
  } else if (!isCurrent) {
    const message = "waiting for the first answer of the server";
    ctx.condition({ type, status: "Unknown", reason: "Connecting", message });
  }
}
