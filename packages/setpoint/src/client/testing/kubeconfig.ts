import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export interface KubeconfigChanges {
  readonly user?: object;
  readonly cluster?: object;
  readonly context?: object;
  readonly top?: object;
}

/** Writes a working kubeconfig with these changes, and returns its path. */
export async function writeKubeconfig(
  folder: string,
  server: { readonly url: string; readonly ca: string | undefined },
  changes: KubeconfigChanges = {},
  name = "config",
): Promise<string> {
  const cluster = { server: server.url, "certificate-authority-data": base64(server.ca ?? ""), ...changes.cluster };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: "user", user: { token: "secret-token", ...changes.user } }],
    contexts: [{ name: "here", context: { cluster: "cluster", user: "user", ...changes.context } }],
    ...changes.top,
  };
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(config));
  return file;
}
