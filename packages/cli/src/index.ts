export { runEnvtestServer } from "./envtest-assets/server.js";
export { main, type Process } from "./main.js";
export { runProcess } from "./process.js";
