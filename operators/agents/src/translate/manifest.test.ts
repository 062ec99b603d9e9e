import { describe, expect, it } from "vitest";
import { agent, byoAgent, configMap, model, secret, type Translated, translated } from "./case.testing.js";

const withDeployment = (deployment: object, more: object = {}) => translated([model(), agent({ deployment, ...more })]);
const kinds = ({ manifest }: Translated) => manifest.map(({ kind }) => kind ?? "(skills)");

describe("the workload of a declarative agent", () => {
  it("has these objects in this order, with labels, owner and without annotations of its own", async () => {
    const found = await translated([model(), agent()]);
    expect(kinds(found)).toEqual(["Secret", "ServiceAccount", "Deployment", "Service"]);
    for (const { metadata } of found.manifest) {
      expect(metadata).toEqual({
        name: "a",
        namespace: "ns",
        labels: {
          app: "kagent",
          kagent: "a",
          "app.kubernetes.io/managed-by": "kagent",
          "app.kubernetes.io/part-of": "kagent",
          "app.kubernetes.io/name": "a",
        },
        ownerReferences: [
          {
            apiVersion: "kagent.dev/v1alpha2",
            kind: "Agent",
            name: "a",
            uid: "",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
    }
    expect(found.manifest.at(-1)?.spec).toEqual({
      ports: [{ name: "http", port: 8080, targetPort: 8080 }],
      selector: { app: "kagent", kagent: "a" },
      type: "ClusterIP",
    });
  });

  it("parts of a pod are written as Go writes them: fields that omitempty drops are left out, stated ones stay", async () => {
    const volumes = [
      { name: "h", hostPath: { path: "/h", type: "" } },
      { name: "c", csi: { driver: "d", readOnly: false, volumeAttributes: { a: "" } } },
      { name: "p", persistentVolumeClaim: { claimName: "p", readOnly: false } },
      { name: "e", ephemeral: { volumeClaimTemplate: { spec: { storageClassName: "", volumeName: "" } } } },
    ];
    const term = { topologyKey: "z", labelSelector: { matchLabels: { role: "" } }, namespaces: [] };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const { pod } = await withDeployment({ volumes, affinity, cmd: "not-mine", workingDir: "/not-mine" });
    expect(pod.spec.volumes.slice(1, -1)).toEqual([
      { name: "h", hostPath: { path: "/h", type: "" } },
      { name: "c", csi: { driver: "d", readOnly: false, volumeAttributes: { a: "" } } },
      { name: "p", persistentVolumeClaim: { claimName: "p" } },
      {
        name: "e",
        ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { resources: {}, storageClassName: "" } } },
      },
    ]);
    expect(pod.spec.affinity).toEqual({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "z", labelSelector: { matchLabels: { role: "" } } },
        ],
      },
    });
    expect(pod.spec.containers[0]).not.toHaveProperty("command");
    expect(pod.spec.containers[0]).not.toHaveProperty("workingDir");
  });

  it("every override of the deployment is applied", async () => {
    const found = await withDeployment({
      replicas: 3,
      imageRegistry: "reg.example",
      imagePullPolicy: "Always",
      imagePullSecrets: [{ name: "pull" }],
      volumes: [{ name: "v", emptyDir: { sizeLimit: "1024Mi" } }],
      volumeMounts: [{ name: "v", mountPath: "/v", readOnly: false }],
      labels: { team: "t" },
      annotations: { pod: "1" },
      deploymentAnnotations: { deployment: "1" },
      env: [
        { name: "E", value: "" },
        { name: "F", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      ],
      envFrom: [{ secretRef: { name: "s" } }],
      resources: { limits: { cpu: "3000m", memory: "2048Mi" }, requests: { cpu: 0.5 } },
      tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 0 }],
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "z", labelSelector: { matchLabels: {} } }],
        },
      },
      nodeSelector: { disk: "ssd" },
      securityContext: { runAsUser: 0, readOnlyRootFilesystem: false },
      podSecurityContext: { fsGroup: 1 },
      serviceAccountConfig: { labels: { l: "1" }, annotations: { "eks.amazonaws.com/role-arn": "arn" } },
    });
    expect(found.pod.spec).toMatchObject({
      imagePullSecrets: [{ name: "pull" }],
      securityContext: { fsGroup: 1 },
      tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 0 }],
      nodeSelector: { disk: "ssd" },
    });
    expect(found.pod.spec.affinity).toEqual({
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "z", labelSelector: {} }] },
    });
    expect(found.pod.spec.volumes.map(({ name }) => name)).toEqual(["config", "v", "kagent-token"]);
    expect(found.pod.spec.volumes[1]).toEqual({ name: "v", emptyDir: { sizeLimit: "1Gi" } });
    expect(found.container).toMatchObject({
      image: "reg.example/kagent-dev/kagent/app:dev",
      imagePullPolicy: "Always",
      envFrom: [{ secretRef: { name: "s" } }],
      securityContext: { runAsUser: 0, readOnlyRootFilesystem: false },
    });
    expect(found.container.resources).toEqual({ limits: { cpu: "3", memory: "2Gi" }, requests: { cpu: "500m" } });
    expect(found.container.env.slice(0, 2)).toEqual([
      { name: "E" },
      { name: "F", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "0" } } },
    ]);
    expect(found.container.volumeMounts[1]).toEqual({ name: "v", mountPath: "/v" });
    const [, account, deployment] = found.manifest;
    expect(account?.metadata).toMatchObject({
      labels: { team: "t", l: "1" },
      annotations: { "eks.amazonaws.com/role-arn": "arn" },
    });
    expect(deployment?.metadata.annotations).toEqual({ deployment: "1" });
    expect(deployment?.spec).toMatchObject({ replicas: 3, selector: { matchLabels: { app: "kagent", kagent: "a" } } });
    expect(found.pod.metadata).toMatchObject({ labels: { team: "t" }, annotations: { pod: "1" } });
  });

  it("the Go runtime has its image, probe and metrics; an unset runtime is Python", async () => {
    const go = await translated([model(), agent({ runtime: "go" })]);
    expect(go.container).toMatchObject({
      image: "ghcr.io/kagent-dev/kagent/golang-adk:dev",
      readinessProbe: { initialDelaySeconds: 1, timeoutSeconds: 5, periodSeconds: 1 },
    });
    expect(go.pod.metadata.annotations).toMatchObject({
      "prometheus.io/scrape": "true",
      "prometheus.io/port": "8080",
      "prometheus.io/path": "/metrics",
    });
    const unset = await translated([model(), agent()]);
    expect(unset.container).toMatchObject({
      image: "ghcr.io/kagent-dev/kagent/app:dev",
      readinessProbe: { periodSeconds: 15 },
    });
    expect(Object.keys(unset.pod.metadata.annotations)).toEqual(["kagent.dev/config-hash"]);
  });

  it.each([
    ["its own", { serviceAccountName: "mine" }, {}, "mine", false],
    ["the default of all", {}, { defaultServiceAccountName: "all" }, "all", false],
    ["its own before that", { serviceAccountName: "mine" }, { defaultServiceAccountName: "all" }, "mine", false],
    ["one by its name", { serviceAccountName: "a" }, {}, "a", true],
  ])("a service account: %s", async (_, deployment, head, name, isMade) => {
    const found = await translated([model(), agent({ deployment })], head);
    expect(found.pod.spec.serviceAccountName).toBe(name);
    expect(kinds(found).includes("ServiceAccount")).toBe(isMade);
  });

  it("settings of the operator: labels, pull secret, telemetry, bind address, addresses", async () => {
    const found = await translated(
      [model(), agent({ deployment: { labels: { env: "mine" } } })],
      {},
      {
        podLabels: { env: "all", cost: "1" },
        imagePullSecret: "everybody",
        environment: { OTEL_B: "2", OTEL_A: "1", PATH: "no" },
        bindHost: "::",
        uiUrl: "https://ui",
        controllerName: "c",
        controllerNamespace: "cns",
      },
    );
    expect(found.pod.metadata.labels).toMatchObject({ env: "mine", cost: "1" });
    expect(found.pod.spec.imagePullSecrets).toEqual([{ name: "everybody" }]);
    expect(found.container.args).toEqual(["--host", "::", "--port", "8080", "--filepath", "/config"]);
    expect(found.container.env.map(({ name, value }) => `${name}=${value ?? ""}`)).toEqual([
      "OTEL_A=1",
      "OTEL_B=2",
      "KAGENT_NAMESPACE=",
      "KAGENT_NAME=a",
      "KAGENT_URL=http://c.cns:8083",
      "KAGENT_UI_URL=https://ui",
    ]);
  });

  it("annotations of the Agent are copied to its objects on request, as by kagent", async () => {
    const [map] = [
      agent({ deployment: { deploymentAnnotations: { a: "mine" } } }, {}, { annotations: { a: "agent's", b: "1" } }),
    ];
    const found = await translated([model(), map]);
    expect(found.manifest.map(({ metadata }) => metadata.annotations)).toEqual([
      { a: "agent's", b: "1" },
      { a: "agent's", b: "1" },
      { a: "mine", b: "1" },
      { a: "agent's", b: "1" },
    ]);
  });
});

describe("agents that run code", () => {
  it("have sandbox settings, the full image and privileges", async () => {
    const sandbox = { network: { allowedDomains: ["b.example", "a.example"] } };
    const found = await translated([model(), agent({ executeCodeBlocks: true }, { sandbox })]);
    expect(found.manifest[0]?.stringData?.["srt-settings.json"]).toBe(
      '{"filesystem":{"allowWrite":[".","/tmp"],"denyRead":[],"denyWrite":[]},"network":{"allowedDomains":["b.example","a.example"],"deniedDomains":[]}}',
    );
    expect(found.text).toContain(
      '"execute_code":true,"stream":false,"network":{"allowed_domains":["b.example","a.example"]}',
    );
    expect(found.container).toMatchObject({
      image: expect.stringMatching(/app:dev-full$/),
      securityContext: { privileged: true },
    });
    expect(found.container.env.at(-1)).toEqual({
      name: "KAGENT_SRT_SETTINGS_PATH",
      value: "/config/srt-settings.json",
    });
  });

  it.each([
    [{ executeCodeBlocks: false }, undefined, undefined],
    [{ executeCodeBlocks: true }, { runAsUser: 1 }, { runAsUser: 1, privileged: true }],
    [
      { executeCodeBlocks: true },
      { allowPrivilegeEscalation: true },
      { allowPrivilegeEscalation: true, privileged: true },
    ],
    [{ executeCodeBlocks: true }, { allowPrivilegeEscalation: false }, { allowPrivilegeEscalation: false }],
  ])("%j with %j", async (declarative, securityContext, expected) => {
    const found = await withDeployment(securityContext ? { securityContext } : {}, declarative);
    expect(found.container.securityContext).toEqual(expected);
  });

  it("a sandbox alone is part of the configuration, with or without domains", async () => {
    const bare = await translated([model(), agent({}, { sandbox: { network: {} } })]);
    expect(bare.text).toContain('"stream":false,"network":{}}');
    expect(bare.manifest[0]?.stringData?.["srt-settings.json"]).toBeUndefined();
  });
});

describe("skills", () => {
  const withSkills = (skills: object, deployment: object = {}) =>
    translated([model(), agent({ deployment }, { skills })]);
  const configOf = ({ manifest }: Translated) => manifest.find(({ kind }) => kind === undefined)!.data!["config.json"]!;

  it("of git, S3 and registries are fetched by one container", async () => {
    const found = await withSkills(
      {
        refs: ["ghcr.io/o/r@sha256:abc", "localhost:5000/q:v1"],
        gitRefs: [
          { url: "git@github.com:o/p.git", ref: "a".repeat(40), path: "sub/q2/" },
          { url: "ssh://git@host.example:2222/o/z.git" },
          { url: "ssh://git@github.com:22/o/y.git?x=1", ref: "v1" },
          { url: "https://example.com/o/named.git", name: "n" },
        ],
        s3Refs: [{ uri: "s3://b/k/t.tar.gz", region: "eu" }],
        gitAuthSecretRef: { name: "g" },
        imagePullSecrets: [{ name: "p" }],
        insecureSkipVerify: true,
        initContainer: { resources: { limits: { cpu: "1000m" } }, env: [{ name: "HTTPS_PROXY", value: "p" }] },
      },
      { securityContext: { runAsUser: 7 } },
    );
    expect(configOf(found)).toBe(
      `{"authMountPath":"/git-auth","gitRefs":[{"url":"git@github.com:o/p.git","ref":"${"a".repeat(40)}","dest":"/skills/q2","full":true,"subPath":"sub/q2"},{"url":"ssh://git@host.example:2222/o/z.git","ref":"main","dest":"/skills/z"},{"url":"ssh://git@github.com:22/o/y.git?x=1","ref":"v1","dest":"/skills/y"},{"url":"https://example.com/o/named.git","ref":"main","dest":"/skills/n"}],"ociRefs":[{"image":"ghcr.io/o/r@sha256:abc","dest":"/skills/r"},{"image":"localhost:5000/q:v1","dest":"/skills/q"}],"insecureOci":true,"sshHosts":[{"host":"github.com"},{"host":"host.example","port":"2222"}],"imagePullSecrets":["p"],"s3Refs":[{"uri":"s3://b/k/t.tar.gz","dest":"/skills/t","region":"eu"}]}`,
    );
    expect(found.pod.spec.initContainers).toEqual([
      {
        name: "skills-init",
        image: "ghcr.io/kagent-dev/kagent/skills-init:dev",
        resources: { limits: { cpu: "1" } },
        env: [{ name: "HTTPS_PROXY", value: "p" }],
        securityContext: { runAsUser: 7 },
        volumeMounts: [
          { name: "kagent-skills", mountPath: "/skills" },
          { name: "skills-init-config", mountPath: "/etc/kagent/skills-init", readOnly: true },
          { name: "git-auth", mountPath: "/git-auth", readOnly: true },
          { name: "pull-secret-p", mountPath: "/docker-secrets/p", readOnly: true },
        ],
      },
    ]);
    expect(found.pod.spec.volumes.map(({ name }) => name)).toEqual([
      "config",
      "kagent-skills",
      "skills-init-config",
      "git-auth",
      "pull-secret-p",
      "kagent-token",
    ]);
    expect(found.container.volumeMounts).toContainEqual({
      name: "kagent-skills",
      mountPath: "/skills",
      readOnly: true,
    });
    expect(found.container.env.slice(-2)).toEqual([
      { name: "KAGENT_SKILLS_FOLDER", value: "/skills" },
      { name: "KAGENT_SRT_SETTINGS_PATH", value: "/config/srt-settings.json" },
    ]);
    expect(kinds(found)).toEqual(["Secret", "ServiceAccount", "(skills)", "Deployment", "Service"]);
  });

  it("without a git Secret no hosts are looked up, and an empty block fetches nothing", async () => {
    expect(configOf(await withSkills({ gitRefs: [{ url: "git@github.com:o/p.git", ref: "main" }] }))).toBe(
      '{"gitRefs":[{"url":"git@github.com:o/p.git","ref":"main","dest":"/skills/p"}]}',
    );
    const empty = await withSkills({});
    expect(empty.pod.spec.initContainers).toBeUndefined();
    expect(empty.container.image).toMatch(/-full$/);
  });

  it.each([
    [{ gitRefs: [{ url: "https://e/o/p", path: "../x" }] }, "spec.skills.gitRefs[0].path"],
    [{ gitRefs: [{ url: "https://e/o/p", name: "a/b" }] }, "spec.skills.gitRefs[0]"],
    [{ refs: ["e/x:1", "f/x:2"] }, 'spec.skills.refs[1]: duplicate skill directory name "x"'],
  ])("%j is refused", async (skills, message) => {
    await expect(withSkills(skills)).rejects.toThrow(message);
  });
});

describe("an agent with its own image", () => {
  it("has a configuration without a model, an A2A port, and the container as it is given", async () => {
    const found = await translated([
      byoAgent(
        { image: "me:1", cmd: "run", args: ["x"], workingDir: "/w", env: [{ name: "A", value: "1" }] },
        { description: "mine" },
      ),
    ]);
    expect(found.text).toBe('{"model":null,"description":"mine","instruction":""}');
    expect(found.container).toMatchObject({
      image: "me:1",
      command: ["run"],
      args: ["x"],
      workingDir: "/w",
      imagePullPolicy: "IfNotPresent",
    });
    expect(found.manifest.at(-1)?.spec).toMatchObject({ ports: [{ appProtocol: "kgateway.dev/a2a" }] });
    expect(found.manifest[0]?.stringData?.["srt-settings.json"]).toBeUndefined();
  });

  it("has sandbox settings if it asks for a sandbox, and skills if it has some; its image stays", async () => {
    const found = await translated([byoAgent({ image: "me:1" }, { sandbox: {}, skills: { refs: ["e/x:1"] } })]);
    expect(found.manifest[0]?.stringData?.["srt-settings.json"]).toContain('"allowedDomains":[]');
    expect(found.container).toMatchObject({ image: "me:1", securityContext: { privileged: true } });
    expect(found.container.args).toBeUndefined();
  });

  it.each([
    [{}, "spec.byo.deployment.image is required"],
    [{ image: "i", extraContainers: [{ name: "kagent" }] }, '"kagent" is a reserved container name'],
    [{ image: "i", extraContainers: [{ name: "x" }, { name: "x" }] }, 'duplicate container name "x"'],
  ])("%j is refused", async (deployment, message) => {
    await expect(translated([byoAgent(deployment)])).rejects.toThrow(message);
  });
});

describe("the agent card", () => {
  it("has every field in the order of the protocol's library", async () => {
    const found = await translated([
      model(),
      agent(
        {
          a2aConfig: {
            skills: [
              {
                id: "i",
                name: "n",
                description: "d",
                tags: ["t"],
                examples: ["e"],
                inputModes: ["text"],
                outputModes: ["image"],
              },
              { name: "bare" },
            ],
          },
        },
        {
          description: "a <b>",
          iconUrl: "https://i",
          documentationUrl: "https://d",
          version: "1.2",
          provider: { organization: "o", url: "https://o" },
        },
      ),
    ]);
    const card = found.manifest[0]!.stringData!["agent-card.json"]!;
    expect(card.replaceAll(/\n\s*/g, "")).toBe(
      '{"defaultInputModes": ["text"],"defaultOutputModes": ["text"],"description": "a \\u003cb\\u003e","documentationUrl": "https://d","iconUrl": "https://i","name": "a","provider": {"organization": "o","url": "https://o"},"version": "1.2","skills": [{"description": "d","examples": ["e"],"id": "i","inputModes": ["text"],"name": "n","outputModes": ["image"],"tags": ["t"]},{"description": "","id": "","name": "bare","tags": null}],"capabilities": {"streaming": true},"supportedInterfaces": [{"url": "http://a.ns:8080","protocolBinding": "JSONRPC","protocolVersion": "0.3"},{"url": "http://a.ns:8080","protocolBinding": "JSONRPC","protocolVersion": "1.0"}],"url": "http://a.ns:8080","protocolVersion": "0.3","preferredTransport": "JSONRPC"}',
    );
    expect(found.agentCard).toMatchObject({ skills: [{ name: "n" }, { name: "bare" }] });
  });
});

describe("config.json", () => {
  it("has its fields in kagent's order, and context, memory and sharing on request", async () => {
    const found = await translated([
      model(),
      model({ provider: "Ollama", ollama: { host: "o" } }, "e"),
      agent(
        {
          stream: true,
          shareTools: true,
          memory: { modelConfig: "e", ttlDays: 3 },
          context: {
            compaction: {
              compactionInterval: 4,
              overlapSize: 0,
              tokenThreshold: 100,
              eventRetentionSize: 6,
              summarizer: { modelConfig: "e", promptTemplate: "p" },
            },
          },
        },
        { description: "d" },
      ),
    ]);
    expect(found.text).toBe(
      '{"model":{"type":"openai","model":"x","base_url":""},"description":"d","instruction":"m","stream":true,"memory":{"ttl_days":3,"embedding":{"provider":"ollama","model":"x"}},"context_config":{"compaction":{"compaction_interval":4,"overlap_size":0,"summarizer_model":{"type":"ollama","model":"x"},"prompt_template":"p","token_threshold":100,"event_retention_size":6}},"share_tools":true}',
    );
    expect(found.container.env[0]).toEqual({ name: "OLLAMA_API_BASE", value: "http://o" });
  });

  it.each([
    [{ context: {} }, '"context_config":{}'],
    [{ context: { compaction: {} } }, '"context_config":{"compaction":{}}'],
    [
      { context: { compaction: { summarizer: {} } } },
      '"context_config":{"compaction":{"summarizer_model":{"type":"openai","model":"x","base_url":""}}}',
    ],
    [{ shareTools: false }, '"stream":false}'],
  ])("%j", async (declarative, text) => {
    expect((await translated([model(), agent(declarative)])).text).toContain(text);
  });

  it("texts are escaped as Go escapes them", async () => {
    const { text } = await translated([model(), agent({ systemMessage: "a < b && c > d\u2028\u0001\t" })]);
    expect(text).toContain('"a \\u003c b \\u0026\\u0026 c \\u003e d\\u2028\\u0001\\t"');
  });

  it.each(["ConfigMap", "Secret"])("the system message of a %s", async (type) => {
    const from = {
      systemMessage: undefined,
      systemMessageFrom: { type, name: type === "Secret" ? "s" : "c", key: "k" },
    };
    const objects = [model(), secret({ k: "text" }), configMap({ k: "text" })];
    expect((await translated([...objects, agent(from)])).config.instruction).toBe("text");
    await expect(translated([model(), agent(from)])).rejects.toThrow(
      `${type} ns/${from.systemMessageFrom.name} not found`,
    );
  });

  it("templates know the agent, its tools and skills, and include text without running it", async () => {
    const systemMessage = `{{include "p/one"}} {{.AgentName}} {{.AgentNamespace}} {{.Description}}{{range .SkillNames}} {{.}}{{end}}`;
    const found = await translated([
      model(),
      configMap({ one: "{{.AgentName}} stays" }),
      agent(
        { systemMessage, promptTemplate: { dataSources: [{ kind: "ConfigMap", name: "c", alias: "p" }] } },
        { description: "d", skills: { refs: ["e/x:1"], gitRefs: [{ url: "https://e/y.git" }] } },
      ),
    ]);
    expect(found.config.instruction).toBe("{{.AgentName}} stays a ns d x y");
    const plain = await translated([model(), agent({ systemMessage: "{{.AgentName}}" })]);
    expect(plain.config.instruction).toBe("{{.AgentName}}");
  });

  it.each([
    ["an unknown path", { systemMessage: '{{include "c/no"}}' }, "available: c/k"],
    ["no message", { systemMessage: "" }, "at least one system message source"],
  ])("%s is refused", async (_, declarative, message) => {
    const promptTemplate = { dataSources: [{ kind: "ConfigMap", name: "c" }] };
    await expect(
      translated([model(), configMap({ k: "v" }), agent({ promptTemplate, ...declarative })]),
    ).rejects.toThrow(message);
  });
});
