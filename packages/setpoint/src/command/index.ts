export {
  type Command,
  type CommandContext,
  CommandError,
  type CommandGroup,
  type CommandOption,
  type OptionValues,
  type Terminal,
  UsageError,
} from "./command.js";
export { createMissing } from "./create-missing.js";
export type { OperatorInstallation, ReadyMadeOperator } from "./ready-made-operator.js";
