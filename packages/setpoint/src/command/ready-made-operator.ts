import type { App } from "../app/app.js";
import type { Client } from "../client/client.js";
import type { Loop } from "../controller/loop.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import type { Command, CommandOption, OptionValues } from "./command.js";

/** What the Deployment of an operator has in addition to the common parts. */
export interface OperatorInstallation {
  readonly args?: readonly string[];
  readonly env?: readonly JsonObject[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  /** Services in front of it; `targetPort` names one of the ports. */
  readonly services?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

/**
 * An operator that comes with Setpoint, as `setpoint up`, `setpoint run` and `setpoint rbac` see it. Its package
 * exports one from a separate module (`@setpoint/druid/operator`). Every start of the command line loads that module,
 * so it imports the operator's code only inside the functions below.
 */
export interface ReadyMadeOperator {
  readonly name: string;
  readonly summary: string;
  /** Its own options of `setpoint run NAME`. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Examples of `setpoint run NAME`, for its help. */
  readonly examples?: Command["examples"];
  /** The loops to run, and the other clusters that they need. Rejects with a `UsageError` for invalid values. */
  start(
    values: OptionValues,
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<{ readonly loops: readonly (Loop | App)[]; readonly clusters?: Readonly<Record<string, Client>> }>;
  /** Describes its plan in its own words, before the writes that `setpoint run NAME --plan` prints. */
  plan?(
    client: Client,
    values: OptionValues,
    env: Readonly<Record<string, string | undefined>>,
  ): Promise<readonly string[]>;
  /** The loops with default options, for RBAC; with a separate management cluster, if the operator has such a mode. */
  loops(isManagementElsewhere: boolean): Promise<readonly (Loop | App)[]>;
  /** Its own kinds, for `setpoint crds`, if its loops do not declare them as their own. */
  kinds?(): Promise<readonly Kind[]>;
  /** Its name for that management cluster. */
  readonly managementCluster?: string;
  /** What `setpoint rbac NAME --install` must add, with or without a Service for its webhooks. */
  installation?(hasWebhookService: boolean): OperatorInstallation;
  /** Creates what it needs on an embedded control plane: CRDs, samples. Never called on a cluster. */
  prepare?(client: Client): Promise<void>;
  /** Commands to try, for the screen of `up`. */
  readonly tries: readonly string[];
  /** Its own commands: `setpoint NAME COMMAND`. */
  readonly commands?: readonly Command[];
}
