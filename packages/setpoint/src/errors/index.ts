export { defineErrors, type ErrorEntry } from "./error.js";
export { errorRegistry } from "./registry.js";
