import type { ReadyMadeOperator } from "setpoint/command";

export interface Running {
  readonly url: string;
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly metricsUrl: string;
  readonly operators: readonly ReadyMadeOperator[];
}

/** The one screen of `up`: what runs, where, and what to try next. Plain text, so that it reads the same in a log. */
export function upScreen({ url, kubeconfig, dataDir, metricsUrl, operators }: Running): string {
  const width = Math.max(...operators.map(({ name }) => name.length), 0);
  return [
    "Setpoint is up.",
    "",
    `  API server   ${url}`,
    `  data         ${dataDir} (kept between runs)`,
    `  metrics      ${metricsUrl}/metrics`,
    "",
    "Operators:",
    ...operators.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`),
    "",
    "Try, in another terminal:",
    `  export KUBECONFIG=${kubeconfig}`,
    ...operators.flatMap(({ tries }) => tries.map((line) => `  ${line}`)),
    "",
    "Ctrl-C stops it.",
  ].join("\n");
}
