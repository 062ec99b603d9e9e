// Runs the suites of the client and of informers for a real kube-apiserver (`*.real.test.ts`) on the embedded one, too:
// over HTTPS, HTTP/1.1 and HTTP/2, and in-process. They are here because neither package may import the other's tests.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { connect } from "setpoint";
import { type ConnectOptions, createClient, type Transport } from "setpoint/client";
import { afterAll, beforeAll } from "vitest";
import { clientSuite } from "../../packages/setpoint/src/client/client.suite.js";
import { informerSuite } from "../../packages/setpoint/src/informer/informer.suite.js";

let plane: ControlPlane;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-suites-"));
  plane = await controlPlane({ listen: { port: 0 } });
  await writeFile(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
}, 120_000);

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const open = (options?: ConnectOptions) => connect({ kubeconfig: join(folder, "kubeconfig"), ...options });
/** Each suite gets its own client, whose disposal does not stop the control plane. */
const inProcess = async (options: object = {}) => {
  const transport: Transport = {
    request: (request) => plane.transport.request(request),
    [Symbol.asyncDispose]: async () => {},
  };
  return createClient({ ...options, transport, server: "in-process" });
};

clientSuite("the embedded control plane over HTTP/1.1", open);
clientSuite("the embedded control plane over HTTP/2", (options) => open({ ...options, protocol: "http2" }));
clientSuite("the embedded control plane in-process", inProcess);
informerSuite("the embedded control plane over HTTPS", () => open());
informerSuite("the embedded control plane in-process", () => inProcess());
