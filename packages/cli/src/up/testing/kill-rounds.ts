import { ASSIGNED_ANNOTATION } from "@setpoint/rancher-projects";
import { type Client, connect, isSetpointError, type ObjectOf } from "setpoint";
import { type Random, systemClock } from "setpoint/clock";
import { Namespace } from "setpoint/kinds/v1";
import { kubeconfigIn, UpProcess } from "./up-process.js";

const LABEL = "appOwner";
const PROJECT = "field.cattle.io/projectId";
const CLUSTER = "field.cattle.io/clusterId";
const NAMESPACES_PER_ROUND = 12;

/**
 * Starts `up`, makes namespaces and kills it at any moment, again and again; some starts are killed before they are ready.
 * Throws where a namespace is half-assigned, or one that was acknowledged is gone or never assigned. Gives how many were.
 */
export async function killRounds(folder: string, rounds: number, random: Random): Promise<number> {
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    if (round % 4 === 3) {
      const early = new UpProcess(folder);
      await systemClock.sleep(random.next() * 1_000);
      await early.stop("SIGKILL");
    }
    await using up = await new UpProcess(folder).ready();
    await using client = await connect({ kubeconfig: kubeconfigIn(folder), retry: { attempts: 1 } });
    await untilAssigned(client, acknowledged);
    const names = Array.from({ length: NAMESPACES_PER_ROUND }, (_, at) => `round-${round}-${at}`);
    const creating = names.map((name) => create(client, name, acknowledged));
    // Counted from acknowledgements, not from when they were asked for: on a busy machine none might have come by then.
    await Promise.all(creating.slice(0, 1 + Math.floor(random.next() * NAMESPACES_PER_ROUND)));
    await systemClock.sleep(random.next() * 60);
    await up.stop("SIGKILL");
    await Promise.all(creating);
  }
  await using _up = await new UpProcess(folder).ready();
  await using client = await connect({ kubeconfig: kubeconfigIn(folder) });
  await untilAssigned(client, acknowledged);
  return acknowledged.size;
}

async function create(client: Client, name: string, acknowledged: Set<string>): Promise<void> {
  try {
    await client.create(Namespace, { metadata: { name, labels: { [LABEL]: "DevOps" } } });
    acknowledged.add(name);
  } catch (error) {
    if (!isSetpointError(error) || !error.code.startsWith("TRANSPORT_")) throw error;
  }
}

/** Never half at any look; in the end all that ask for a project have it. */
async function untilAssigned(client: Client, acknowledged: ReadonlySet<string>): Promise<void> {
  for (;;) {
    const { items } = await client.list(Namespace, { labelSelector: LABEL });
    const names = new Set(items.map(({ metadata }) => metadata.name));
    for (const name of acknowledged) if (!names.has(name)) throw new Error(`${name} was acknowledged and is gone`);
    if (items.map(isAssigned).every((each) => each)) return;
    await systemClock.sleep(20);
  }
}

function isAssigned({ metadata }: ObjectOf<typeof Namespace>): boolean {
  const { labels = {}, annotations = {} } = metadata;
  const parts = [labels[PROJECT], labels[CLUSTER], annotations[PROJECT], annotations[ASSIGNED_ANNOTATION]];
  const wanted = ["p-devops", "local", "local:p-devops", "local:p-devops"];
  if (parts.every((part) => part === undefined)) return false;
  if (parts.every((part, at) => part === wanted[at])) return true;
  throw new Error(`${metadata.name} is half-assigned: ${JSON.stringify(parts)}`);
}
