import { defineConfig, mergeConfig } from "vitest/config";
import base from "../vitest.config.js";

const merged = mergeConfig(base, defineConfig({ test: { testTimeout: 3_600_000, fileParallelism: false } }));

/** The long random tests, and nothing else. */
export default {
  ...merged,
  root: new URL("..", import.meta.url).pathname,
  test: {
    ...merged.test,
    include: ["{packages,operators}/*/src/**/*.soak.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
  },
};
