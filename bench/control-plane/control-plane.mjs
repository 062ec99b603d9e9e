// The embedded control plane beside kube-apiserver + etcd, both with fsync, both over HTTPS, both freshly started for
// each of five interleaved rounds; medians. `ratio` is our cost over theirs: below one is better than the peer.
import { compare, compareRates, median } from "../report.mjs";
import { interleaved, onFresh } from "../rounds.mjs";
import { Connection, load, once, requestBytes, watch } from "./loader.mjs";
import { residentMb, startPeer, startSetpoint } from "./targets.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CONNECTIONS = 32;
const OBJECTS = 20_000;
const WARM_UP = 3000;
const NAMESPACE = "bench";
const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const PEER = "kube-apiserver 1.36 + etcd 3.6";

/** About a kilobyte, like an ordinary object. */
const configMap = (name, revision = 0) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE, labels: { app: "bench", shard: String(name.length % 7) } },
  data: {
    revision: String(revision),
    ...Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key-${at}`, "x".repeat(60)])),
  },
});

const name = (prefix, index) => `${prefix}-${String(index).padStart(6, "0")}`;

/** Watch latency: from just before a write to the arrival of its event at the last watcher, in milliseconds. */
async function watchLatency(target, watchers, samples) {
  let pending = 0;
  let allArrived;
  const onEvent = () => {
    if (--pending === 0) allArrived();
  };
  const path = `${COLLECTION}?watch=true&fieldSelector=metadata.name%3Dwatched&resourceVersion=`;
  const list = JSON.parse((await once(target, { method: "GET", path: `${COLLECTION}?limit=1` })).body);
  const open = await Promise.all(
    Array.from({ length: watchers }, () => watch(target, path + list.metadata.resourceVersion, onEvent)),
  );
  const writer = await Connection.open(target);
  const times = [];
  for (let sample = 0; sample < samples; sample++) {
    pending = watchers;
    const arrived = new Promise((resolve) => {
      allArrived = resolve;
    });
    const startedMs = performance.now();
    const [method, path] = sample === 0 ? ["POST", COLLECTION] : ["PUT", `${COLLECTION}/watched`];
    const bytes = requestBytes({ method, path, body: configMap("watched", sample), token: target.token });
    await Promise.all([writer.send(bytes), arrived]);
    times.push(performance.now() - startedMs);
  }
  for (const each of [writer, ...open]) each.close();
  return median(times.slice(1));
}

/** One round against one server. */
async function round({ target, pids, startMs }) {
  const idleMb = residentMb(pids);
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const made = await once(target, { method: "POST", path: "/api/v1/namespaces", body: namespace });
  if (made.status !== 201) throw new Error(`namespace: ${made.status} ${made.body}`);
  const run = (count, requestAt) => load(target, { connections: CONNECTIONS, count, requestAt });
  const post = (prefix) => (index) => ({ method: "POST", path: COLLECTION, body: configMap(name(prefix, index)) });
  // Warm-up: until the whole path is compiled. A real server runs for longer than that.
  await run(WARM_UP, post("warm"));
  const creates = await run(5000, post("made"));
  const updates = await run(3000, (index) => ({
    method: "PUT",
    path: `${COLLECTION}/${name("made", index)}`,
    body: configMap(name("made", index), 1),
  }));
  const applies = await run(3000, (index) => ({
    method: "PATCH",
    path: `${COLLECTION}/${name("applied", index % 1500)}?fieldManager=bench&force=true`,
    body: configMap(name("applied", index % 1500), Math.floor(index / 1500)),
    contentType: "application/apply-patch+yaml",
  }));
  const gets = await run(5000, (index) => ({ method: "GET", path: `${COLLECTION}/${name("made", index)}` }));
  const lists = await run(300, () => ({ method: "GET", path: `${COLLECTION}?limit=500` }));
  const oneWatcher = await watchLatency(target, 1, 30);
  await once(target, { method: "DELETE", path: `${COLLECTION}/watched` });
  const thousandWatchers = await watchLatency(target, 1000, 10);
  await run(OBJECTS - WARM_UP - 5000 - 1500 - 1, post("more"));
  await check(target);
  const filledMb = residentMb(pids);
  return { startMs, idleMb, filledMb, creates, updates, applies, gets, lists, oneWatcher, thousandWatchers };
}

/** Checks that the written objects exist: their number, and a thousand random ones. */
async function check(target) {
  let count = 0;
  for (let token = ""; ; ) {
    const page = `${COLLECTION}?labelSelector=app%3Dbench&limit=5000${token && `&continue=${encodeURIComponent(token)}`}`;
    const list = JSON.parse((await once(target, { method: "GET", path: page })).body);
    count += list.items.length;
    token = list.metadata.continue ?? "";
    if (token === "") break;
  }
  if (count !== OBJECTS) throw new Error(`${count} objects are there, ${OBJECTS} were written`);
  const random = Array.from({ length: 1000 }, () => Math.floor(Math.random() * 5000));
  await load(target, {
    connections: CONNECTIONS,
    count: random.length,
    requestAt: (index) => ({ method: "GET", path: `${COLLECTION}/${name("made", random[index])}` }),
  });
}

export async function measure() {
  const [ours, theirs] = await interleaved(ROUNDS, [onFresh(startSetpoint, round), onFresh(startPeer, round)]);
  const row = (metric, unit, key, isRate) => {
    const all = (results) => results.map((each) => each[key]);
    return (isRate ? compareRates : compare)(metric, unit, all(ours), PEER, all(theirs));
  };
  return [
    row("process start to first answer", "ms", "startMs", false),
    row("resident memory, idle", "MB", "idleMb", false),
    row("resident memory, 20,000 objects", "MB", "filledMb", false),
    row("creates, fsynced, 32 connections", "1/s", "creates", true),
    row("updates, fsynced, 32 connections", "1/s", "updates", true),
    row("applies, fsynced, 32 connections", "1/s", "applies", true),
    row("gets, 32 connections", "1/s", "gets", true),
    row("lists of 500, 32 connections", "1/s", "lists", true),
    row("watch latency, 1 watcher", "ms", "oneWatcher", false),
    row("watch latency, the last of 1,000", "ms", "thousandWatchers", false),
  ];
}
