/** What @kubernetes/client-node is asked for most, here: load a config, list, patch, watch with a cache that survives. */
import { type Client, isNotFound } from "setpoint";
import { Informers } from "setpoint/informer";
import { ConfigMap, Pod } from "setpoint/kinds/v1";

/** new KubeConfig(), loadFromDefault(), makeApiClient(CoreV1Api) became `await connect()`, which gives the client. */
export async function label(client: Client, name: string, team: string): Promise<boolean> {
  try {
    // api.patchNamespacedPod({ … }, setHeaderOptions("Content-Type", PatchStrategy.MergePatch))
    const body = { metadata: { labels: { team } } };
    await client.patch(Pod, name, { type: "merge", body }, { namespace: "default" });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false; // error.code === 404
    throw error;
  }
}

/** makeInformer(…) with on("error", restart): this one goes on by itself, through cuts, 410s and silent streams. */
export async function settings(client: Client, changed: (name: string) => void, signal: AbortSignal): Promise<void> {
  await using informers = new Informers(client);
  using configMaps = informers.for(ConfigMap, { namespaces: ["default"] });
  using handler = configMaps.addHandler(({ object }) => object && changed(object.metadata.name));
  await handler.synced;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
