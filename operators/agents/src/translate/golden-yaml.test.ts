import { expect, it } from "vitest";
import { translateCase } from "./golden.js";

const INPUT = `
targetObject: a
namespace: ns
objects:
  - &model
    apiVersion: kagent.dev/v1alpha2
    kind: ModelConfig
    metadata: { name: m, namespace: ns }
    spec: { provider: Foundry, model: x, foundry: { deployment: d, endpoint: "https://f", apiVersion: 2024-10-21 } }
  - apiVersion: kagent.dev/v1alpha2
    kind: Agent
    metadata: { name: a, namespace: ns }
    spec:
      type: Declarative
      declarative:
        runtime: go
        systemMessage: m
        modelConfig: m
        stream: yes
        deployment:
          volumes:
            - name: v
              secret: { secretName: s, defaultMode: 0444 }
`;

it("a case is parsed as Kubernetes' tools parse YAML: octal modes and yes, but times are text", async () => {
  const { config, manifest } = (await translateCase(INPUT)) as never as {
    config: { stream: boolean; model: object };
    manifest: { spec: { template: { spec: { volumes: object[] } } } }[];
  };
  expect(config).toMatchObject({ stream: true, model: { api_version: "2024-10-21" } });
  expect(manifest[2]!.spec.template.spec.volumes[1]).toEqual({
    name: "v",
    secret: { secretName: "s", defaultMode: 0o444 },
  });
});

it("invalid YAML is refused with its line", async () => {
  await expect(translateCase("objects: [")).rejects.toThrow(/line 1/);
});
