/** Common calls of @kubernetes/client-node in Setpoint: load a config, list, patch, watch with a robust cache. */
import { type Client, isNotFound } from "setpoint";
import { Informers } from "setpoint/informer";
import { ConfigMap, Pod } from "setpoint/kinds/v1";

/** `await connect()` replaces new KubeConfig(), loadFromDefault() and makeApiClient(CoreV1Api). */
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

/** Replaces makeInformer(…) with on("error", restart): survives cuts, 410s and silent streams by itself. */
export async function settings(client: Client, changed: (name: string) => void, signal: AbortSignal): Promise<void> {
  await using informers = new Informers(client);
  using configMaps = informers.for(ConfigMap, { namespaces: ["default"] });
  using handler = configMaps.addHandler(({ object }) => object && changed(object.metadata.name));
  await handler.synced;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
