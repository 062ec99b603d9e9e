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

/** Refuses, before they are stored, objects that could never be carried out; the message names the field. */
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
    // What was stored before may be labelled and deleted as it is.
    update: (object, old) => (JSON.stringify(object.spec) === JSON.stringify(old.spec) ? undefined : check(object)),
  });
}
