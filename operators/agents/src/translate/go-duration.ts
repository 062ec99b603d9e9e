const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const DURATION = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+|0)$/;

/** Milliseconds of a duration as Go writes it: `5m0s`, `1.5h`. Undefined for what is none. */
export function goDurationMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  let sumMs = 0;
  for (const [, number, unit] of match[2]!.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g)) {
    sumMs += Number(number) * UNITS_MS[unit!]!;
  }
  return match[1] === "-" ? -sumMs : sumMs;
}
