import { afterAll, beforeAll } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { connect } from "../client/connect.js";
import { informerSuite } from "./informer.suite.js";

let cluster: Awaited<ReturnType<typeof startKubernetes>>;

beforeAll(async () => {
  cluster = await startKubernetes();
}, 900_000);

afterAll(() => cluster?.stop());

informerSuite("a real kube-apiserver", () => connect({ kubeconfig: cluster.kubeconfig }));
