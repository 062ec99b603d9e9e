import { crdsCommand, rbacCommand } from "./code/commands.js";
import type { Command } from "./command.js";
import { controlPlaneCommand } from "./control-plane/command.js";
import { envtestAssetsCommand } from "./envtest-assets/command.js";
import { objectCommands } from "./objects/commands.js";
import { runCommand } from "./run/command.js";
import { upCommand } from "./up/command.js";
import { whyCommand } from "./why/command.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  upCommand,
  runCommand,
  ...objectCommands,
  whyCommand,
  crdsCommand,
  rbacCommand,
  controlPlaneCommand,
  envtestAssetsCommand,
];
