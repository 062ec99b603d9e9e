import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { connect } from "../client/connect.js";
import { integrationSuite } from "./integration.suite.js";

integrationSuite("a real kube-apiserver", async () => {
  const cluster = await startKubernetes();
  return {
    connect: () => connect({ kubeconfig: cluster.kubeconfig }),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
});
