import type { ValidationApi } from "./validation/differential.mjs";

export function apiOf(kubeconfigPath: string): ValidationApi & { close(): void };
