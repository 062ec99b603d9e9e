import { Caller } from "./caller.mjs";

const CLIENTS = { "honest-a": 34, "honest-b": 33 };
export const HONEST = Object.keys(CLIENTS);
/** The pause between two requests of a client. */
const THINK_MS = 100;
/** In one of so many rounds an object is kept, to be checked after a restart. */
const KEPT_EVERY = 10;

const mapsOf = (tenant) => `/api/v1/namespaces/${tenant}/configmaps`;

/** The clients of the honest tenants: each repeatedly creates, changes, reads and deletes its own object. */
export class Honest {
  /** The acknowledged and never deleted objects with their content, by path. */
  kept = new Map();

  /** The duration of each request, and the wrong responses. */
  async run(port, seconds) {
    const endMs = performance.now() + seconds * 1_000;
    const seen = { times: [], lost: 0, wrong: [] };
    const clients = Object.entries(CLIENTS).flatMap(([tenant, count]) => {
      const caller = new Caller(port, tenant, count);
      return Array.from({ length: count }, (_, at) => this.#client(caller, tenant, at, endMs, seen));
    });
    await Promise.all(clients);
    return seen;
  }

  /** The number of kept objects that the server lost or changed. */
  async missing(port) {
    const found = new Map();
    for (const tenant of HONEST) {
      const caller = new Caller(port, tenant, 1);
      const { status, text } = await caller.send("GET", mapsOf(tenant));
      caller.close();
      if (status !== 200) throw new Error(`GET ${mapsOf(tenant)}: ${status}`);
      for (const { metadata, data } of JSON.parse(text).items)
        found.set(`${mapsOf(tenant)}/${metadata.name}`, data?.round);
    }
    return [...this.kept].filter(([path, round]) => found.get(path) !== round).length;
  }

  async #client(caller, tenant, at, endMs, seen) {
    const maps = mapsOf(tenant);
    const timed = async (expected, ...request) => {
      const startMs = performance.now();
      const answer = await caller.send(...request).catch((error) => ({ status: 0, text: String(error) }));
      seen.times.push(performance.now() - startMs);
      if (answer.status !== expected) {
        seen.lost++;
        if (seen.wrong.length < 5)
          seen.wrong.push(`${request[0]} ${request[1]}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, THINK_MS));
      return answer;
    };
    for (let round = 0; performance.now() < endMs; round++) {
      const isKept = round % KEPT_EVERY === 0;
      const name = isKept ? `kept-${at}-${Math.round(endMs)}-${round}` : `client-${at}`;
      const made = await timed(201, "POST", maps, { metadata: { name }, data: { round: String(round) } });
      if (made.status !== 201) continue;
      const text = `${round} again`;
      const changed = await timed(200, "PUT", `${maps}/${name}`, { ...JSON.parse(made.text), data: { round: text } });
      const read = await timed(200, "GET", `${maps}/${name}`);
      if (changed.status === 200 && read.status === 200 && JSON.parse(read.text).data.round !== text) seen.lost++;
      if (!isKept) await timed(200, "DELETE", `${maps}/${name}`);
      else if (changed.status === 200) this.kept.set(`${maps}/${name}`, text);
    }
  }
}
