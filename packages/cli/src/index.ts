export type { Command, CommandContext, CommandOption, OptionValues, Terminal } from "./command.js";
export { UsageError } from "./command.js";
export { runEnvtestServer } from "./envtest-assets/server.js";
export { main, type Process } from "./main.js";
export { runProcess } from "./process.js";
