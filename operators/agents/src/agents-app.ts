import { type App, app, type Duration, watcher } from "setpoint";
import { type Clock, parseDuration, type Random, systemClock, systemRandom } from "setpoint/clock";
import { Service } from "setpoint/kinds/v1";
import { admission } from "./admission.js";
import { agentController } from "./controllers/agents.js";
import { mcpServers, toolServices } from "./controllers/mcp-servers.js";
import { modelConfigs } from "./controllers/model-configs.js";
import { modelProviders } from "./controllers/model-providers.js";
import { remoteMcpServers } from "./controllers/remote-mcp-servers.js";
import { removedServers } from "./controllers/server-rows.js";
import type { ModelTarget, Shared, ToolTarget } from "./controllers/shared.js";
import { UsageCounts } from "./controllers/usage.js";
import type { Store } from "./database/store.js";
import { listModels } from "./discovery/list-models.js";
import { listTools, type ToolList, watchTools } from "./discovery/mcp-session.js";
import { type Ask, Probes } from "./discovery/probes.js";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { ModelConfig } from "./kinds/model-config.js";
import { ModelProviderConfig } from "./kinds/model-provider-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { agentKey, pythonIdentifier } from "./translate/agent-config.js";
import { DEFAULT_SETTINGS, type TranslateSettings } from "./translate/settings.js";
import { SERVICE_LABEL } from "./translate/tool-server.js";

export interface AgentsOptions extends Partial<TranslateSettings> {
  readonly store: Store;
  /** How often to list tools. Defaults to a minute. */
  readonly refresh?: Duration;
  /** The namespaces to watch. Defaults to all. */
  readonly namespaces?: readonly string[];
  /** Registers the validating webhooks. Defaults to true. */
  readonly admission?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Replaces the listing of tools in tests. */
  readonly ask?: Ask<ToolTarget, ToolList>;
  /** Replaces the listing of models in tests. */
  readonly askModels?: Ask<ModelTarget, readonly string[]>;
}

const REFRESH: Duration = "1m";

/** The operator's kinds, for their CRDs. */
export const agentKinds = [Agent, RemoteMCPServer, MCPServer, ModelConfig, ModelProviderConfig] as const;

/**
 * The operator: controllers for kagent's kinds that share one translator, one set of probes and one database. It
 * installs no CRDs, because it works with kagent's CRDs as well as with its own (`agentKinds`).
 */
export function agents(options: AgentsOptions): App {
  const {
    store,
    refresh = REFRESH,
    namespaces,
    clock = systemClock,
    random = systemRandom,
    ask = listTools,
    askModels = listModels,
  } = options;
  const settings = Object.fromEntries(
    Object.entries(DEFAULT_SETTINGS).map(([key, value]) => [key, options[key as keyof TranslateSettings] ?? value]),
  );
  const shared: Shared = {
    store,
    clock,
    tools: new Probes({
      clock,
      random,
      ask,
      watch: async (target, { announcesChanges }, signal, onChanged) => {
        if (announcesChanges) await watchTools(target, signal, onChanged);
      },
    }),
    models: new Probes({ clock, random, ask: askModels }),
    settings: { ...options, ...settings } as unknown as TranslateSettings,
    usage: new UsageCounts(clock),
    refreshMs: parseDuration(refresh, "refresh"),
    namespaces,
  };
  return app({
    name: "agents",
    displayName: "AI agents",
    kinds: [],
    unmanaged: [...agentKinds, Service],
    loops: [
      modelConfigs(shared),
      modelProviders(shared),
      remoteMcpServers(shared),
      mcpServers(shared),
      toolServices(shared),
      agentController(shared),
      removedServers(RemoteMCPServer, "RemoteMCPServer.kagent.dev", shared),
      removedServers(MCPServer, "MCPServer.kagent.dev", shared),
      removedServers(Service, "Service", shared, `${SERVICE_LABEL}=true`),
      watcher(Agent, {
        name: "agents-gone",
        ...(namespaces ? { namespaces } : {}),
        delete: (agent) => store.deleteAgent(pythonIdentifier(agentKey(agent)), agent.metadata.uid!),
      }),
      watcher(ModelProviderConfig, {
        name: "modelproviderconfigs-gone",
        ...(namespaces ? { namespaces } : {}),
        delete: ({ metadata }) => shared.models.forget(`${metadata.namespace}/${metadata.name}`, metadata.uid),
      }),
    ],
    validate: options.admission === false ? [] : admission,
    runnables: [probesOf(shared)],
  });
}

/** Stops all probes when the process ends or loses the lease. */
function probesOf({ tools, models }: Shared) {
  return {
    name: "discovery",
    run: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          tools[Symbol.dispose]();
          models[Symbol.dispose]();
          resolve();
        };
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      }),
  };
}
