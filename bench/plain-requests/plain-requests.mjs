// The gain of the control plane's own parser for plain HTTP/1.1 requests (packages/control-plane/src/http). Both sides
// use one server over 32 connections, in interleaved rounds; the peer's connections start with a request that is not
// plain, so that Node parses them from then on. Medians; BENCH_ROUNDS=N sets the rounds, whose ratios go to stderr.
import { readFileSync } from "node:fs";
import { load, once, requestBytes } from "../control-plane/loader.mjs";
import { startSetpoint } from "../control-plane/targets.mjs";
import { compare, compareRates } from "../report.mjs";
import { interleaved } from "../rounds.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const CONNECTIONS = 32;
const GETS = 10_000;
const CREATES = 4000;
const COLLECTION = "/api/v1/namespaces/default/configmaps";
const PEER = "Node's parser";
const TICKS_PER_SECOND = 100;

const configMap = (name) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key-${at}`, "x".repeat(60)])),
});

/** Processor time of a process so far, in milliseconds. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

function withHeader(bytes, line) {
  const at = bytes.indexOf("\r\n") + 2;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(`${line}\r\n`), bytes.subarray(at)]);
}

/** One side: rates, and the server's processor time per request. */
function side({ target, pids }, prefix, line) {
  const get = { method: "GET", path: `${COLLECTION}/read` };
  const plain = requestBytes({ ...get, token: target.token });
  const first = line === undefined ? plain : withHeader(plain, line);
  const measured = async (count, requestAt) => {
    const startedMs = cpuMs(pids[0]);
    const rate = await load(target, { connections: CONNECTIONS, count, requestAt, first });
    return { rate, cpuUs: ((cpuMs(pids[0]) - startedMs) * 1000) / count };
  };
  let made = 0;
  const post = () => ({ method: "POST", path: COLLECTION, body: configMap(`${prefix}-${made++}`) });
  return async () => ({ gets: await measured(GETS, () => get), creates: await measured(CREATES, post) });
}

export async function measure() {
  const server = await startSetpoint();
  try {
    await once(server.target, { method: "POST", path: COLLECTION, body: configMap("read") });
    const sides = [side(server, "plain"), side(server, "node", "te: trailers")];
    await interleaved(1, sides);
    const [ours, theirs] = await interleaved(ROUNDS, sides);
    const rows = [];
    for (const kind of ["gets", "creates"]) {
      const of = (results, key) => results.map((each) => each[kind][key]);
      for (const key of ["rate", "cpuUs"]) {
        const ratios = of(ours, key).map((value, at) => (value / of(theirs, key)[at]).toFixed(2));
        console.error(`${kind}, ${key}, ours over theirs: ${ratios.sort().join(" ")}`);
      }
      rows.push(compareRates(`${kind}, 32 connections`, "1/s", of(ours, "rate"), PEER, of(theirs, "rate")));
      rows.push(compare(`${kind}, server's processor time`, "µs", of(ours, "cpuUs"), PEER, of(theirs, "cpuUs")));
    }
    return rows;
  } finally {
    await server.stop();
  }
}
