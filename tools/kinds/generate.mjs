// Writes packages/setpoint/src/kinds/builtin from what a real kube-apiserver serves.
//
//   node tools/kinds/generate.mjs                       starts one (tools/kubernetes), asks it, stops it
//   node tools/kinds/generate.mjs --kubeconfig FILE     asks a running one, with the kubectl on the path
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startKubernetes } from "../kubernetes/start.mjs";
import { kubectlReader, readFacts } from "./facts.mjs";
import { render } from "./render.mjs";

const target = join(dirname(fileURLToPath(import.meta.url)), "../../packages/setpoint/src/kinds/builtin");
const { values } = parseArgs({ options: { kubeconfig: { type: "string" } } });
const cluster = values.kubeconfig ? undefined : await startKubernetes();
try {
  const kubectl = cluster ? join(cluster.binaries, "kubectl") : "kubectl";
  const files = render(await readFacts(kubectlReader(kubectl, values.kubeconfig ?? cluster.kubeconfig)));
  rmSync(target, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  }
  console.log(`${files.size} files in ${target}`);
} finally {
  await cluster?.stop();
}
