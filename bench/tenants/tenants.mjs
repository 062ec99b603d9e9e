// What honest tenants notice of a hostile one: 67 clients of two tenants create, read, change and delete, first alone, then
// beside 33 clients of a third tenant that attack. TENANTS_SECONDS is how long each part takes (20 unless said otherwise).
import { fork } from "node:child_process";
import { once } from "node:events";
import { Caller } from "./caller.mjs";

const SECONDS = Number(process.env.TENANTS_SECONDS ?? 20);
const CLIENTS = { "honest-a": 34, "honest-b": 33 };
/** Between two requests of a client. */
const THINK_MS = 100;

export async function measure() {
  const server = fork(new URL("server.mjs", import.meta.url));
  const [{ port }] = await once(server, "message");
  try {
    await honest(port, 2);
    const alone = await honest(port, SECONDS);
    const memoryBefore = await memoryOf(server);
    const hostile = fork(new URL("hostile.mjs", import.meta.url), [String(port)]);
    const beside = await honest(port, SECONDS);
    const memory = await memoryOf(server);
    hostile.send("counts");
    const [attacks] = await once(hostile, "message");
    hostile.kill();
    console.error(`attacks: ${JSON.stringify(attacks)}; lines in the server's log: ${memory.errors}`);
    console.error(`honest requests: ${alone.times.length} alone, ${beside.times.length} beside`);
    const row = (metric, unit, ours, theirs) => ({
      metric,
      unit,
      ours: Math.round(ours * 10) / 10,
      peer: "alone",
      theirs: Math.round(theirs * 10) / 10,
      ratio: theirs === 0 ? 0 : Math.round((ours / theirs) * 100) / 100,
    });
    return [
      row("p50 of honest requests", "ms", quantile(beside.times, 0.5), quantile(alone.times, 0.5)),
      row("p99 of honest requests", "ms", quantile(beside.times, 0.99), quantile(alone.times, 0.99)),
      row("peak memory of the server", "MB", memory.peakRss / 1e6, memoryBefore.peakRss / 1e6),
      row("lost or refused", "requests", beside.lost, alone.lost),
    ];
  } finally {
    server.send("stop");
    await once(server, "exit");
  }
}

async function memoryOf(server) {
  server.send("memory");
  const [memory] = await once(server, "message");
  return memory;
}

function quantile(times, part) {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** Runs the honest clients; `lost` counts answers that are not what they must be. */
async function honest(port, seconds) {
  const endMs = performance.now() + seconds * 1_000;
  const times = [];
  let lost = 0;
  const clients = Object.entries(CLIENTS).flatMap(([tenant, count]) => {
    const caller = new Caller(port, tenant, count);
    return Array.from({ length: count }, (_, at) => run(caller, tenant, at));
  });
  await Promise.all(clients);
  return { times, lost };

  async function run(caller, tenant, at) {
    const maps = `/api/v1/namespaces/${tenant}/configmaps`;
    const name = `client-${at}`;
    const timed = async (expected, ...request) => {
      const startMs = performance.now();
      const answer = await caller.send(...request).catch((error) => ({ status: 0, text: String(error) }));
      times.push(performance.now() - startMs);
      if (answer.status !== expected) lost++;
      await new Promise((resolve) => setTimeout(resolve, THINK_MS));
      return answer;
    };
    for (let round = 0; performance.now() < endMs; round++) {
      const made = await timed(201, "POST", maps, { metadata: { name }, data: { round: String(round) } });
      if (made.status !== 201) continue;
      const changed = { ...JSON.parse(made.text), data: { round: `${round} again` } };
      await timed(200, "PUT", `${maps}/${name}`, changed);
      const read = await timed(200, "GET", `${maps}/${name}`);
      if (read.status === 200 && JSON.parse(read.text).data.round !== `${round} again`) lost++;
      await timed(200, "DELETE", `${maps}/${name}`);
    }
  }
}
