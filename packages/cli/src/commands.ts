import { pipelines } from "@setpoint/pipelines/commands";
import type { Command, CommandGroup } from "setpoint/command";
import { crdsCommand, rbacCommand } from "./code/commands.js";
import { controlPlaneCommand } from "./control-plane/command.js";
import { envtestAssetsCommand } from "./envtest-assets/command.js";
import { objectCommands } from "./objects/commands.js";
import { readyMadeOperators } from "./operators.js";
import { runGroup } from "./run/command.js";
import { upCommand } from "./up/command.js";
import { whyCommand } from "./why/command.js";

const operatorGroups: readonly CommandGroup[] = readyMadeOperators.flatMap(({ name, summary, commands = [] }) =>
  commands.length > 0 ? [{ name, summary: `Commands of the operator that ${summary}.`, commands }] : [],
);

/** Every command, in the order of the help. */
export const commands: readonly (Command | CommandGroup)[] = [
  upCommand,
  runGroup,
  ...objectCommands,
  whyCommand,
  crdsCommand,
  rbacCommand,
  controlPlaneCommand,
  envtestAssetsCommand,
  ...operatorGroups,
  pipelines,
];
