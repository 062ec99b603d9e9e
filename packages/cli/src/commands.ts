import type { Command } from "./command.js";
import { controlPlaneCommand } from "./control-plane/command.js";
import { objectCommands } from "./objects/commands.js";
import { runCommand } from "./run/command.js";
import { upCommand } from "./up/command.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [upCommand, runCommand, ...objectCommands, controlPlaneCommand];
