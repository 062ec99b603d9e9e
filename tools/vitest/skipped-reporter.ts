import type { Reporter, TestModule } from "vitest/node";

/** After all tests: lists the skipped ones. Nothing is skipped silently. */
export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].map((test) => `${module.relativeModuleId}: ${test.fullName}`),
    );
    console.info([`skipped tests: ${skipped.length}`, ...skipped.map((name) => `  ${name}`)].join("\n"));
  }
}
