import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { integrationSuite } from "./integration.suite.js";

integrationSuite("a real kube-apiserver", async () => {
  const { kubeconfig, stop } = await startKubernetes();
  return { kubeconfig, [Symbol.asyncDispose]: stop };
});
