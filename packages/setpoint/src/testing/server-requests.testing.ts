import type { Client } from "../client/client.js";
import { readBytes } from "../client/transport/body.js";

const COUNT =
  /^apiserver_request_total\{code="\d+",group="(?<group>[^"]*)",resource="(?<resource>[^"]*)",verb="(?<verb>[^"]*)"\} (?<count>\d+)$/;

/** The server's own count of requests, whoever sent them, without watches and leases: `PATCH configmaps` by number. */
export async function serverRequests(client: Client): Promise<Readonly<Record<string, number>>> {
  const { body } = await client.raw({ method: "GET", path: "/metrics" });
  const counts: Record<string, number> = {};
  for (const line of (await readBytes(body)).toString("utf8").split("\n")) {
    const { group, resource, verb, count } = COUNT.exec(line)?.groups ?? {};
    if (verb === undefined || verb === "WATCH" || group === "coordination.k8s.io") continue;
    const name = `${verb} ${resource}`;
    counts[name] = (counts[name] ?? 0) + Number(count);
  }
  return counts;
}

/** The counted requests that change something: all but reads and reviews. */
export function mutations(requests: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const entries = Object.entries(requests).filter(([name]) => !/^(GET|LIST) |reviews$/.test(name));
  return Object.fromEntries(entries);
}
