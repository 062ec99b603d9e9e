import type { Command } from "./command.js";
import { controlPlaneCommand } from "./control-plane/command.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [controlPlaneCommand];
