import { agentsOperator } from "@setpoint/agents/operator";
import { druidOperator } from "@setpoint/druid/operator";
import { rancherProjectsOperator } from "@setpoint/rancher-projects/operator";
import type { ReadyMadeOperator } from "setpoint/command";

/** The operators that come with Setpoint. An operator becomes part of `up`, `run`, `rbac` and the commands here. */
export const readyMadeOperators: readonly ReadyMadeOperator[] = [
  rancherProjectsOperator,
  druidOperator,
  agentsOperator,
];
