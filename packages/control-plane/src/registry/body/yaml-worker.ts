import { parentPort } from "node:worker_threads";
import { readYamlText } from "./yaml-text.js";

// The parser makes an error for each mistake, and most of its time would go into their stacks.
Error.stackTraceLimit = 0;

/** Runs in a thread of its own: reads texts of YAML, one after the other, while the server goes on. */
parentPort?.on("message", (text: string) => parentPort?.postMessage(readYamlText(text)));
