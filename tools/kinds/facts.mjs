// The kinds of a running kube-apiserver: discovery and OpenAPI v3, without descriptions.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A function that GETs a path of the server as JSON, with kubectl's credentials. */
export function kubectlReader(kubectl, kubeconfig) {
  return async (path) => {
    const { stdout } = await run(kubectl, ["--kubeconfig", kubeconfig, "get", "--raw", path], { maxBuffer: 2 ** 28 });
    return JSON.parse(stdout);
  };
}

/** Only generally available versions (`v1`, `v2`) are guaranteed to stay. */
const isStable = (version) => /^v\d+$/.test(version);

/**
 * @param {(path: string) => Promise<any>} read
 * @returns {Promise<{ gitVersion: string, groupVersions: { group: string, version: string, resources: any[],
 *   schemas: Record<string, any> }[] }>}
 */
export async function readFacts(read) {
  const { gitVersion } = await read("/version");
  const { groups } = await read("/apis");
  const served = groups.flatMap((group) => group.versions.map(({ version }) => ({ group: group.name, version })));
  const groupVersions = [];
  for (const { group, version } of [{ group: "", version: "v1" }, ...served]) {
    if (!isStable(version) || !isBuiltIn(group)) continue;
    const path = group ? `apis/${group}/${version}` : `api/${version}`;
    const { resources } = await read(`/${path}`);
    const { components } = await read(`/openapi/v3/${path}`);
    groupVersions.push({ group, version, resources, schemas: components.schemas });
  }
  return { gitVersion, groupVersions };
}

/** Kubernetes owns groups without a dot and those under k8s.io; others come from custom resources. */
const isBuiltIn = (group) => !group.includes(".") || group.endsWith(".k8s.io");
