import { createHash } from "node:crypto";
import {
  type Controller,
  controller,
  done,
  findCondition,
  isSetpointError,
  type Kind,
  type Outcome,
  type ReconcileContext,
  retry,
  terminal,
  waitFor,
} from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Namespace, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { AgentsError, invalidSpec } from "../errors.js";
import { Agent } from "../kinds/agent.js";
import { MCPServer } from "../kinds/mcp-server.js";
import { ModelConfig } from "../kinds/model-config.js";
import { RemoteMCPServer } from "../kinds/remote-mcp-server.js";
import { agentProblems, describeProblems } from "../spec-problems.js";
import { agentKey, pythonIdentifier } from "../translate/agent-config.js";
import { goJson, type Json, type JsonFields } from "../translate/go-json.js";
import { CONFIG_HASH } from "../translate/manifest.js";
import { type Translation, translateAgent } from "../translate/translate.js";
import { checkNamespaces } from "./cross-namespace.js";
import { sweepAgents } from "./server-rows.js";
import { type Shared, shortened, trackedObjects } from "./shared.js";

/** Deployment annotation: short hashes of the rollout hash's inputs. They show which input made the pods roll. */
export const ROLLOUT_INPUTS = "agents.setpoint.dev/rollout-inputs";
const OWNED: Readonly<Record<string, Kind>> = { Deployment, Secret, Service, ServiceAccount, ConfigMap };
const HIDDEN = "***";

type Context = ReconcileContext<Agent>;

/** Reconciles Agents into workloads. */
export function agentController(shared: Shared): Controller<Agent> {
  return controller(Agent, {
    name: "agents",
    owns: [Deployment, Secret, ConfigMap, Service, ServiceAccount],
    uses: [ModelConfig, RemoteMCPServer, MCPServer, Namespace],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    triggers: [sweepAgents(pythonIdentifier, shared)],
    async reconcile(agent, context) {
      const ctx = context as unknown as Context;
      ctx.status({ observedGeneration: agent.metadata.generation ?? 0 });
      setUnsupported(agent, ctx);
      try {
        return await reconcileAgent(agent, ctx, shared);
      } catch (error) {
        return await rejected(agent, ctx, error);
      }
    },
  });
}

async function reconcileAgent(agent: Agent, ctx: Context, shared: Shared): Promise<Outcome> {
  const problems = agentProblems(agent);
  if (problems.length > 0) throw invalidSpec(describeProblems(problems));
  const objects = trackedObjects(ctx);
  await checkNamespaces(objects, agent, shared.namespaces);
  const translation = await translateAgent(objects, agent, shared.settings);
  const before = await ctx.find(Deployment, agent.metadata.name, { tracked: false });
  await applyAll(translation, ctx);
  tellRollout(translation, before, ctx);
  await ctx.prune(...(Object.values(OWNED) as never[]));
  const row = {
    id: pythonIdentifier(agentKey(agent)),
    uid: agent.metadata.uid!,
    type: agent.spec.type,
    config: goJson(withoutSecrets(translation.config, agent)),
  };
  await ctx.effect("store the agent", () => shared.store.putAgent(row), { planned: false });
  ctx.condition({ type: "Accepted", status: "True", reason: "Reconciled", message: "Agent configuration accepted" });
  setWorkload(ctx, await ctx.find(Deployment, agent.metadata.name, { tracked: false }));
  return done();
}

/** Applies every object even if one fails. Then throws an error, so that nothing is pruned. */
async function applyAll({ manifest, rolloutInputs, config }: Translation, ctx: Context): Promise<void> {
  const failures: unknown[] = [];
  for (const object of manifest) {
    const { status: _status, stringData, ...desired } = object;
    const { ownerReferences: _owners, ...metadata } = desired.metadata as JsonFields;
    const kind = OWNED[String(object.kind ?? "ConfigMap")]!;
    const isDeployment = object.kind === "Deployment";
    const annotations = isDeployment
      ? {
          ...(metadata.annotations as JsonFields),
          [ROLLOUT_INPUTS]: JSON.stringify(inputHashes(config, rolloutInputs)),
        }
      : metadata.annotations;
    const data = stringData && { data: encoded(stringData as JsonFields) };
    const body = compact({ ...desired, metadata: { ...metadata, annotations }, ...data } as Json);
    try {
      await ctx.apply(kind as never, body as never, isDeployment ? { yields: ["spec.replicas"] } : {});
    } catch (error) {
      // A tracked read: requeues the agent when the foreign object of that name is deleted.
      if (isSetpointError(error, "CHILD_NOT_OWNED")) await ctx.find(kind as never, String(metadata.name));
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures.find((error) => isSetpointError(error, "CHILD_NOT_OWNED")) ?? failures[0];
}

/** Removes undefined fields. */
const compact = (value: Json): unknown => JSON.parse(JSON.stringify(value));

const encoded = (texts: JsonFields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([key, text]) =>
      text === undefined ? [] : [[key, Buffer.from(String(text)).toString("base64")]],
    ),
  );

function inputHashes(config: JsonFields, inputs: Translation["rolloutInputs"]): Record<string, string> {
  const short = (content: Uint8Array | string): string =>
    createHash("sha256").update(content).digest("hex").slice(0, 8);
  const parts = Object.entries(config).flatMap(([name, part]): [string, string][] =>
    part === undefined ? [] : [[`config.${name}`, short(goJson(part))]],
  );
  const { agentCard, secrets, sandbox, skills } = inputs;
  return Object.fromEntries([
    ...parts,
    ["agentCard", short(agentCard)],
    ["secrets", short(secrets)],
    ["sandbox", short(sandbox)],
    ["skills", short(skills)],
  ]);
}

/** Emits an event that names the inputs which make the pods roll. */
function tellRollout(
  { manifest, config, rolloutInputs }: Translation,
  before: Deployment | undefined,
  ctx: Context,
): void {
  const hashIn = (template: unknown): unknown =>
    (template as { metadata?: { annotations?: Record<string, unknown> } } | undefined)?.metadata?.annotations?.[
      CONFIG_HASH
    ];
  const deployment = manifest.find(({ kind }) => kind === "Deployment")!;
  const hash = hashIn((deployment.spec as JsonFields).template);
  if (!before || hashIn(before.spec?.template) === hash) return;
  const old = JSON.parse(before.metadata.annotations?.[ROLLOUT_INPUTS] ?? "{}") as Record<string, string>;
  const now = inputHashes(config, rolloutInputs);
  const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => old[name] !== now[name]);
  const why = Object.keys(old).length === 0 ? "the configuration" : changed.join(", ");
  ctx.event("Normal", "RolloutTriggered", `pods are replaced because of ${why}; config-hash is now ${hash}`);
}

/** The configuration for the database: masks header values, and a system message that comes from a Secret. */
function withoutSecrets(config: JsonFields, { spec }: Agent): JsonFields {
  const masked = JSON.parse(goJson(config), (key, value: unknown) =>
    key === "headers" && typeof value === "object" && value !== null
      ? Object.fromEntries(Object.keys(value).map((name) => [name, HIDDEN]))
      : value,
  ) as JsonFields;
  return spec.declarative?.systemMessageFrom?.type === "Secret" ? { ...masked, instruction: HIDDEN } : masked;
}

function setWorkload(ctx: Context, deployment: Deployment | undefined): void {
  const set = (type: string, status: "True" | "False" | "Unknown", reason: string, message: string): void =>
    ctx.condition({ type, status, reason, message });
  if (!deployment) {
    set("Ready", "Unknown", "DeploymentNotFound", "the Deployment does not exist");
    set("Progressing", "Unknown", "DeploymentNotFound", "the Deployment does not exist");
    return;
  }
  const { availableReplicas = 0, replicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment.status ?? {};
  const wanted = deployment.spec?.replicas ?? 1;
  if (availableReplicas > 0) set("Ready", "True", "DeploymentReady", "Deployment is ready");
  else
    set(
      "Ready",
      "False",
      "DeploymentNotReady",
      `Deployment is not ready, ${availableReplicas}/${replicas} pods are ready`,
    );
  const isSettled =
    observedGeneration >= (deployment.metadata.generation ?? 0) &&
    updatedReplicas >= wanted &&
    availableReplicas >= wanted &&
    replicas <= wanted;
  if (isSettled) set("Progressing", "False", "RolloutComplete", "all pods run the current configuration");
  else
    set(
      "Progressing",
      "True",
      "RollingOut",
      `${updatedReplicas} of ${wanted} pods run the current configuration, ${availableReplicas} available`,
    );
}

/** Reports features that the Go runtime does not support. The agent runs without them. */
function setUnsupported({ spec, status }: Agent, ctx: Context): void {
  const { runtime, executeCodeBlocks, context } = spec.declarative ?? {};
  const features = [
    ...(executeCodeBlocks ? ["executeCodeBlocks"] : []),
    ...(context?.compaction ? ["context.compaction"] : []),
  ];
  const type = "UnsupportedFeatures";
  if (runtime === "go" && features.length > 0) {
    const message = `the go runtime does not support: ${features.join(", ")}`;
    ctx.condition({ type, status: "True", reason: "UnsupportedByRuntime", message });
  } else if (findCondition(status?.conditions, type)?.status === "True") {
    ctx.condition({ type, status: "False", reason: "Supported", message: "all features are supported" });
  }
}

/** Sets all conditions of an Agent that is not accepted. Waits for a change if only a change can fix it. */
async function rejected({ metadata }: Agent, ctx: Context, error: unknown): Promise<Outcome> {
  const message = shortened((error as Error).message);
  const deployment = await ctx.find(Deployment, metadata.name, { tracked: false });
  // Pods of an earlier configuration keep running, so report them. Ignore a Deployment that another object owns.
  const isOwn = deployment?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid);
  const reject = (reason: string): void => {
    ctx.condition({ type: "Accepted", status: "False", reason, message });
    if (isOwn) setWorkload(ctx, deployment);
    else {
      for (const type of ["Ready", "Progressing"]) {
        ctx.condition({ type, status: "Unknown", reason, message: "the configuration is not accepted" });
      }
    }
  };
  const code = error instanceof AgentsError ? error.code : undefined;
  if (code === "AGENTS_INVALID_SPEC") {
    reject("InvalidSpec");
    return terminal(error);
  }
  if (code === "AGENTS_REFERENCE_MISSING" || code === "AGENTS_REFERENCE_DENIED") {
    const reason = code === "AGENTS_REFERENCE_MISSING" ? "ReferenceMissing" : "ReferenceDenied";
    reject(reason);
    return waitFor(reason, { message });
  }
  if (isSetpointError(error, "CHILD_NOT_OWNED")) {
    reject("Conflict");
    return waitFor("Conflict", { message });
  }
  reject("ReconcileFailed");
  return retry(error);
}
