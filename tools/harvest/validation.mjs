// Compares the embedded server's validation and defaulting of built-in kinds with a real kube-apiserver's, field by field:
//
//   npm run build && node tools/harvest/validation.mjs [--kubeconfig FILE] [--every N] [--show N] [Kind…]
//
// Without a kubeconfig it starts a real server. Prints the agreement of each kind in percent; `--show` also prints as many
// of the differences, `--beyond FILE` writes the field paths of what is accepted here and refused there. `--record FILE`
// keeps the real server's answers, `--against FILE` compares with kept ones; `--plane FILE` tries another build.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startKubernetes } from "../kubernetes/start.mjs";
import { apiOf } from "./api.mjs";
import { bases, operatorKinds } from "./validation/bases.mjs";
import { compareKind } from "./validation/differential.mjs";
import { recorded, recording } from "./validation/recording.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: "string" },
    every: { type: "string", default: "1" },
    show: { type: "string", default: "0" },
    beyond: { type: "string" },
    record: { type: "string" },
    against: { type: "string" },
    plane: { type: "string", default: "@setpoint/control-plane" },
  },
});
const facts = (name) =>
  JSON.parse(
    readFileSync(
      fileURLToPath(new URL(`../../packages/control-plane/src/facts/${name}.json`, import.meta.url)),
      "utf8",
    ),
  );
const { controlPlane } = await import(values.plane);
const components = facts("schemas");
const resources = new Map();
for (const { group, versions } of facts("discovery")) {
  for (const { version, resources: each } of versions) {
    for (const resource of each) resources.set(`${group}/${version}/${resource.kind}`, { ...resource, group, version });
  }
}

const needsServer = values.kubeconfig === undefined && values.against === undefined;
const cluster = needsServer ? await startKubernetes() : undefined;
const real = recording(values.against ? recorded(values.against) : apiOf(values.kubeconfig ?? cluster.kubeconfig));
// Like the real server: without controllers, and without service accounts for pods.
const plane = await controlPlane({ controllers: false, disabledAdmission: ["ServiceAccount"] });
const ours = {
  async call(method, path, { body, headers } = {}) {
    const response = await plane.transport.request({
      method,
      path,
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    return answerOf(response);
  },
};

async function answerOf(response) {
  const chunks = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
}

const wanted =
  positionals.length === 0 ? operatorKinds : Object.keys(bases).filter((id) => positionals.includes(id.split("/")[2]));
const beyond = [];
const total = { asked: 0, verdict: 0, causes: 0, wording: 0, accepted: 0, defaults: 0 };
const percent = (part, whole) => `${((100 * part) / (whole || 1)).toFixed(1)}%`.padStart(7);
console.log(`${"kind".padEnd(62)}  asked verdict  causes wording defaults`);
const line = (name, counts) =>
  console.log(
    `${name.padEnd(62)} ${String(counts.asked).padStart(6)} ${percent(counts.verdict, counts.asked)} ${percent(counts.causes, counts.asked)} ${percent(counts.wording, counts.asked)} ${percent(counts.defaults, counts.accepted)}`,
  );
for (const id of wanted) {
  let left = Number(values.show);
  const onDifference = (difference) => {
    const { method, path, change, result, ours: our, real: theirs } = difference;
    if (our.status < 300 && theirs.status >= 300)
      beyond.push({ id, method, path, change, causes: theirs.body.details?.causes ?? theirs.body.message });
    if (left-- <= 0) return;
    console.log(
      `\n${method} ${id} ${path} ${change}\n  differs in ${Object.keys(result)
        .filter((level) => !result[level])
        .join(", ")}`,
    );
    console.log(`  here: ${brief(our)}\n  real: ${brief(theirs)}`);
    if (!result.defaults && our.status < 300 && theirs.status < 300) showDifferences(our.body, theirs.body, "");
  };
  const counts = await compareKind({
    ours,
    real,
    id,
    resource: resources.get(id),
    components,
    sample: { every: Number(values.every) },
    onDifference,
  });
  for (const key of Object.keys(total)) total[key] += counts[key];
  line(id, counts);
}
line("all", total);
if (values.beyond) writeFileSync(values.beyond, `${JSON.stringify(beyond, null, 1)}\n`);
if (values.record) real.save(values.record);
await plane.stop();
real.close();
await cluster?.stop();

function brief({ status, body }) {
  if (status < 300) return String(status);
  const causes = (body.details?.causes ?? [])
    .map(({ field, message }) => `\n    ${field}: ${message.slice(0, 300)}`)
    .join("");
  return `${status} ${body.reason ?? ""}${causes || ` ${String(body.message).slice(0, 400)}`}`;
}

function showDifferences(our, theirs, path) {
  if (JSON.stringify(our) === JSON.stringify(theirs)) return;
  const isBranch = (value) => typeof value === "object" && value !== null;
  if (!isBranch(our) || !isBranch(theirs)) {
    if (!/^\.metadata\.(uid|resourceVersion|creationTimestamp|managedFields|generation)/.test(path)) {
      console.log(`    ${path}: here ${JSON.stringify(our)}, real ${JSON.stringify(theirs)}`);
    }
    return;
  }
  for (const key of new Set([...Object.keys(our), ...Object.keys(theirs)])) {
    if (key === "managedFields") continue;
    showDifferences(our[key], theirs[key], `${path}.${key}`);
  }
}
