import type { App } from "../app/app.js";
import type { Client } from "../client/client.js";
import type { Loop } from "../controller/loop.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import type { Command, CommandOption, OptionValues } from "./command.js";

/** What the Deployment of an operator has beyond what runs every operator. */
export interface OperatorInstallation {
  readonly args?: readonly string[];
  readonly env?: readonly JsonObject[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  /** Services before it; `targetPort` names one of the ports. */
  readonly services?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

/**
 * An operator that comes with Setpoint, as `setpoint up`, `setpoint run` and `setpoint rbac` see it. Its package exports
 * one from a module of its own (`@setpoint/druid/operator`). Every start of the command line loads that module, so it
 * imports the operator's code only inside the functions below.
 */
export interface ReadyMadeOperator {
  readonly name: string;
  readonly summary: string;
  /** Its own options of `setpoint run NAME`. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Examples of `setpoint run NAME`, for its help. */
  readonly examples?: Command["examples"];
  /** What it runs, and the other clusters that it needs. Rejects with a `UsageError` for values that make no sense. */
  start(
    values: OptionValues,
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<{ readonly loops: readonly (Loop | App)[]; readonly clusters?: Readonly<Record<string, Client>> }>;
  /** What it says of its plan in words of its own, before the writes that `setpoint run NAME --plan` prints. */
  plan?(
    client: Client,
    values: OptionValues,
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<readonly string[]>;
  /** What it runs with its defaults, for RBAC; with the management API elsewhere, where it has such a mode. */
  loops(isManagementElsewhere: boolean): Promise<readonly (Loop | App)[]>;
  /** Its own kinds, for `setpoint crds`, where what it runs does not declare them as its own. */
  kinds?(): Promise<readonly Kind[]>;
  /** Its name for the other cluster of that mode. */
  readonly managementCluster?: string;
  /** What `setpoint rbac NAME --install` has to add; with or without a Service before its webhooks. */
  installation?(hasWebhookService: boolean): OperatorInstallation;
  /** Makes what it needs on a control plane of one's own: CRDs, samples. Never called on a cluster. */
  prepare?(client: Client): Promise<void>;
  /** What to try, for the screen of `up`. */
  readonly tries: readonly string[];
  /** Its own commands: `setpoint NAME COMMAND`. */
  readonly commands?: readonly Command[];
}
