import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { connect } from "../../client/connect.js";
import { normalisedSuite } from "./normalised.suite.js";

normalisedSuite("a real kube-apiserver", async () => {
  const { kubeconfig, stop } = await startKubernetes();
  const client = await connect({ kubeconfig });
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await stop();
    },
  };
});
