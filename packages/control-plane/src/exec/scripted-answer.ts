import type { Pod } from "setpoint/kinds/v1";
import { yaml } from "../api/yaml.js";
import { SCRIPT_PREFIX } from "../workloads/pod/pod-script.js";

/** The result and output of a command in a simulated container. */
export interface ExecResult {
  readonly stdout?: string;
  readonly stderr?: string;
  /** Defaults to 0. */
  readonly exitCode?: number;
}

/** A command that a client runs in a container of a simulated pod. */
export interface ExecCall {
  readonly pod: Pod;
  readonly container: string;
  readonly command: readonly string[];
}

/**
 * Answers commands in place of the simulation; undefined leaves a command to the simulation.
 *
 * ```ts
 * const exec: ExecHandler = ({ command }) => (command[0] === "pg_isready" ? { stdout: "accepting connections\n" } : undefined);
 * ```
 */
export type ExecHandler = (call: ExecCall) => ExecResult | undefined | Promise<ExecResult | undefined>;

/**
 * The answer in the pod's annotation `simulation.setpoint.dev/exec`: a YAML list of `command`, `stdout`, `stderr` and
 * `exitCode`. The first match wins: `command` is the words joined by blanks, or a prefix of that followed by `*`.
 */
export function scriptedAnswer(pod: Pod, command: readonly string[]): ExecResult | undefined {
  const text = pod.metadata.annotations?.[`${SCRIPT_PREFIX}exec`];
  if (text === undefined) return undefined;
  const line = command.join(" ");
  return answersIn(text).find(({ command: pattern }) =>
    pattern.endsWith("*") ? line.startsWith(pattern.slice(0, -1)) : line === pattern,
  );
}

/** Ignore malformed annotations. */
function answersIn(text: string): readonly (ExecResult & { readonly command: string })[] {
  try {
    const answers: unknown = yaml().parse(text);
    return Array.isArray(answers) ? answers.filter((each) => typeof each?.command === "string") : [];
  } catch {
    return [];
  }
}
