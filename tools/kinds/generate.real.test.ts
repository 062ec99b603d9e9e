import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startKubernetes } from "../kubernetes/start.mjs";
import { kubectlReader, readFacts } from "./facts.mjs";
import { render } from "./render.mjs";

const target = fileURLToPath(new URL("../../packages/setpoint/src/kinds/builtin", import.meta.url));

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [relative(target, path)];
  });
}

let cluster: Awaited<ReturnType<typeof startKubernetes>>;

beforeAll(async () => {
  cluster = await startKubernetes();
});

afterAll(() => cluster?.stop());

it("the checked-in built-in kinds are those that a real kube-apiserver serves", async () => {
  const facts = await readFacts(kubectlReader(join(cluster.binaries, "kubectl"), cluster.kubeconfig));
  const generated = render(facts);
  expect(filesBelow(target).sort()).toEqual([...generated.keys()].sort());
  for (const [path, text] of generated) expect(readFileSync(join(target, path), "utf8"), path).toBe(text);
});
