const UNITS_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};
const DURATION = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;

/** Whole nanoseconds, as in Go; undefined if it is not a duration. */
function nanoseconds(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  let sumNs = 0;
  for (const [, whole, fraction = "", unit] of match[2]!.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const unitNs = UNITS_NS[unit!]!;
    sumNs += Number(whole) * unitNs + Math.trunc(Number(fraction) * (unitNs / 10 ** fraction.length));
  }
  return match[1] === "-" ? -sumNs : sumNs;
}

/** Parses a Go duration (`5m0s`, `1.5h`) into milliseconds; undefined if it is not a duration. */
export function goDurationMs(text: string): number | undefined {
  const ns = nanoseconds(text);
  return ns === undefined ? undefined : ns / 1e6;
}

/** Seconds with exactly the digits of Go's Duration.Seconds. */
export function goSeconds(text: string): number | undefined {
  const ns = nanoseconds(text);
  return ns === undefined ? undefined : Math.trunc(ns / 1e9) + (ns % 1e9) / 1e9;
}
