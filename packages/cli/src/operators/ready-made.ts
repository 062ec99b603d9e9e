import type { Client, Workload } from "setpoint";
import type { CommandOption, OptionValues } from "../command.js";
import { rancherProjectsOperator } from "./rancher-projects.js";

/** An operator that comes with Setpoint, as `up` and `run` see it. */
export interface ReadyMadeOperator {
  readonly name: string;
  readonly summary: string;
  /** Its own options of `setpoint run NAME`. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /** What it runs, and the other clusters that it needs. Rejects with a `UsageError` for values that make no sense. */
  start(
    values: OptionValues,
  ): Promise<{ readonly workloads: readonly Workload[]; readonly clusters?: Readonly<Record<string, Client>> }>;
  /** What it runs with its defaults, for RBAC; with the management API elsewhere, where it has such a mode. */
  workloads(isManagementElsewhere: boolean): Promise<readonly Workload[]>;
  /** Its name for the other cluster of that mode. */
  readonly managementCluster?: string;
  /** Makes what it needs on a control plane of one's own: CRDs, samples. Never called on a cluster. */
  prepare?(client: Client): Promise<void>;
  /** What to try, for the screen of `up`. */
  readonly tries: readonly string[];
}

export const readyMadeOperators: readonly ReadyMadeOperator[] = [rancherProjectsOperator];
