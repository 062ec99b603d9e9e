import type { Client } from "setpoint";
import { planText } from "./cluster/change-plan.js";
import { planOnServer } from "./cluster/server-plan.js";
import { DEFAULT_SETTINGS } from "./cluster/settings.js";
import { validate } from "./cluster/validation.js";
import { Druid } from "./druid.js";
import { type DruidOperatorOptions, ignoredBy } from "./druid-operator.js";

/** The plan for every Druid object on the API server, as lines of text. */
export async function planAll(client: Client, options: DruidOperatorOptions): Promise<readonly string[]> {
  const isIgnored = ignoredBy(options);
  const lines: string[] = [];
  for (const druid of (await client.list(Druid)).items) {
    if (isIgnored(druid)) continue;
    const problems = validate(druid).map(({ path, message }) => `${path}: ${message}`);
    const title = `Druid ${druid.metadata.namespace}/${druid.metadata.name}`;
    if (problems.length > 0) lines.push(`${title} is invalid and ignored: ${problems.join("; ")}`);
    else lines.push(...planText(await planOnServer(client, druid, { ...DEFAULT_SETTINGS, ...options })));
  }
  return lines;
}
