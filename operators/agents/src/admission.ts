import { type Kind, type KubeObject, RefusedError, validating } from "setpoint";
import type { Validator } from "setpoint/app";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import {
  agentProblems,
  describeProblems,
  mcpServerProblems,
  modelProblems,
  referenceProblems,
  remoteServerProblems,
  type SpecProblem,
} from "./spec-problems.js";

/** Validating webhooks that reject objects which can never work. The message names the field. */
export const admission: readonly Validator[] = [
  refusing(Agent, (agent) => [...agentProblems(agent), ...referenceProblems(agent)]),
  refusing(RemoteMCPServer, remoteServerProblems),
  refusing(ModelConfig, modelProblems),
  refusing(MCPServer, mcpServerProblems),
];

function refusing<T extends KubeObject & { readonly spec: unknown }>(
  kind: Kind<T>,
  problemsOf: (object: T) => readonly SpecProblem[],
): Validator {
  const check = (object: T): void => {
    const problems = problemsOf(object);
    if (problems.length === 0) return;
    throw new RefusedError(422, "Invalid", describeProblems(problems));
  };
  return validating(kind, {
    create: check,
    // Allow metadata changes (labels, finalizers) to invalid objects that are already stored.
    update: (object, old) => (JSON.stringify(object.spec) === JSON.stringify(old.spec) ? undefined : check(object)),
  });
}
