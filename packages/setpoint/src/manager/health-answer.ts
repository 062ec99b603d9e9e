import type { HealthCheck } from "../app/health-check.js";
import type { EndpointAnswer } from "./endpoint-server.js";

/** Runs every check, and answers as Kubernetes' own health endpoints do; notes change nothing in the verdict. */
export async function healthAnswer(
  checks: readonly HealthCheck[],
  notes: readonly string[] = [],
): Promise<EndpointAnswer> {
  const results = await Promise.all(
    checks.map(async (check) => ({ name: check.name, trouble: await troubleOf(check) })),
  );
  const isWell = results.every(({ trouble }) => trouble === undefined);
  const lines = results.map(({ name, trouble }) =>
    trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`,
  );
  const noted = notes.map((note) => `[!]${note}`);
  return { status: isWell ? 200 : 503, body: `${[...lines, ...noted, isWell ? "ok" : "not ready"].join("\n")}\n` };
}

async function troubleOf(check: HealthCheck): Promise<string | undefined> {
  try {
    return await check.check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
