import { expect, it } from "vitest";
import { isTestSupport, packages, withoutComments } from "./sources.js";

/** The modules that may use time and randomness directly; all others take a Clock or a Random. */
const MODULES: readonly string[] = [
  "packages/setpoint/src/clock/system-clock.ts",
  "packages/setpoint/src/clock/virtual-clock.ts",
  "packages/setpoint/src/clock/random.ts",
];

const RAW: Readonly<Record<string, RegExp>> = {
  setTimeout: /\bsetTimeout\b/,
  setInterval: /\bsetInterval\b/,
  setImmediate: /\bsetImmediate\b/,
  "node:timers": /"node:timers(\/promises)?"/,
  "Date.now": /\bDate\.now\b/,
  "new Date()": /\bnew Date\(\s*\)/,
  "performance.now": /\bperformance\.(now|timeOrigin)\b/,
  "process.hrtime": /\bprocess\.(hrtime|uptime)\b/,
  "AbortSignal.timeout": /\bAbortSignal\.timeout\b/,
  "Math.random": /\bMath\.random\b/,
  "random bytes of node:crypto": /\b(randomBytes|randomUUID|randomInt|getRandomValues|randomFillSync)\b/,
};

it("time and randomness are injected: no raw timers, clocks or random sources outside their modules", () => {
  const found = packages().flatMap(({ sources }) =>
    sources
      .filter(({ path }) => !isTestSupport(path) && !MODULES.includes(path))
      .flatMap(({ path, text }) => {
        const code = withoutComments(text);
        return Object.entries(RAW)
          .filter(([, pattern]) => pattern.test(code))
          .map(([name]) => `${path} uses ${name}`);
      }),
  );
  expect(found).toEqual([]);
});
