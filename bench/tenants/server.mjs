// A control plane with workloads and a durable journal in its own process: argv is its data directory and its users, as
// JSON of names and groups, each with the token NAME-token. Sends its port to its parent, its memory on request, and
// stops when told to.
import { controlPlane } from "@setpoint/control-plane";
import { longestTurn } from "./turns.mjs";

const [dataDir, users] = process.argv.slice(2);
const tokens = new Map(Object.entries(JSON.parse(users)).map(([name, groups]) => [`${name}-token`, { name, groups }]));
const lines = [];
let errors = 0;
const log = (message, error) => {
  if (errors++ < 20) lines.push(`${message}: ${error instanceof Error ? error.message : error}`);
};
const plane = await controlPlane({ dataDir, listen: {}, workloads: true, tokens, log });
const turn = longestTurn();
let peakRss = 0;
setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage().rss);
}, 100).unref();
process.on("message", async (message) => {
  if (message === "memory") {
    process.send({ peakRss, errors, lines, turnMs: turn() });
    peakRss = 0;
  }
  if (message === "stop") {
    await plane.stop();
    process.exit(0);
  }
});
process.send({ port: Number(new URL(plane.url).port) });
