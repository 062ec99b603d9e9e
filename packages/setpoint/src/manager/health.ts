import type { HealthCheck } from "../app/health-check.js";
import type { ControllerStatus } from "../controller/controller-run.js";
import type { InformerStatus } from "../informer/informer.js";
import type { EndpointAnswer } from "./endpoint-server.js";

type NamedInformer = InformerStatus & { readonly kind: string };

/** `informer apps/v1/Deployment: listing, not synced; last error: …`; undefined where all is well. */
export function informerTrouble({ kind, phase, synced, lastError }: NamedInformer): string | undefined {
  if (synced && phase !== "waiting-for-kind" && phase !== "stopped") return undefined;
  const error = lastError ? `; last error: ${lastError.code} ${lastError.message}` : "";
  return `informer ${kind}: ${phase}${synced ? "" : ", not synced"}${error}`;
}

/** What keeps a process from being ready, one reason a line. */
export function controllerTrouble(statuses: Iterable<Pick<ControllerStatus, "informers">>): readonly string[] {
  const reasons = [...statuses].flatMap(({ informers }) => informers.map(informerTrouble));
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}

/** Runs every check, and answers as Kubernetes' own health endpoints do. */
export async function healthAnswer(checks: readonly HealthCheck[]): Promise<EndpointAnswer> {
  const results = await Promise.all(
    checks.map(async (check) => ({ name: check.name, trouble: await troubleOf(check) })),
  );
  const isWell = results.every(({ trouble }) => trouble === undefined);
  const lines = results.map(({ name, trouble }) =>
    trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`,
  );
  return { status: isWell ? 200 : 503, body: `${[...lines, isWell ? "ok" : "not ready"].join("\n")}\n` };
}

async function troubleOf(check: HealthCheck): Promise<string | undefined> {
  try {
    return await check.check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
