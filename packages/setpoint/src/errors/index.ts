export { defineErrors, type ErrorEntry } from "./error.js";
export { type ErrorCode, errorRegistry } from "./registry.js";
