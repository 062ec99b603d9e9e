import { createHash } from "node:crypto";
import { stringify } from "yaml";
import type { MCPServer } from "../kinds/mcp-server.js";
import type { Json, JsonFields } from "../translate/go-json.js";
import { nonEmpty } from "../translate/go-json.js";

/** The objects that run an MCPServer, as kmcp creates them. */
export interface ServerManifest {
  readonly serviceAccount: JsonFields | undefined;
  readonly configMap: JsonFields;
  readonly deployment: JsonFields;
  readonly service: JsonFields;
}

const DEFAULT_IMAGES: Readonly<Record<string, string>> = {
  uvx: "ghcr.io/astral-sh/uv:debian",
  npx: "node:24-alpine3.21",
};
/** The gateway serves HTTP to callers and talks stdio to the MCP server. */
export const GATEWAY_IMAGE = "ghcr.io/agentgateway/agentgateway:0.9.0-musl";
export const SERVER_CONFIG_HASH = "kmcp.kagent.dev/mcpserver-config-hash";

export function serverManifest(server: MCPServer): ServerManifest {
  const { name } = server.metadata;
  const { deployment, transportType } = server.spec;
  const config = stringify(gatewayConfig(server), { sortMapEntries: true, indentSeq: false, lineWidth: 0 });
  const hash = createHash("sha256").update(config).digest("hex").slice(0, 8);
  const selector = { "app.kubernetes.io/name": name, "app.kubernetes.io/instance": name };
  const labels = { ...deployment.labels, ...selector, "app.kubernetes.io/managed-by": "kmcp" };
  const account = deployment.serviceAccountName;
  const metadata = { name, labels };
  return {
    serviceAccount: account
      ? undefined
      : {
          metadata: {
            name,
            labels: { ...labels, ...deployment.serviceAccount?.labels },
            annotations: deployment.serviceAccount?.annotations,
          },
        },
    configMap: { metadata, data: { "local.yaml": config } },
    deployment: {
      metadata,
      spec: {
        replicas: deployment.replicas,
        selector: { matchLabels: selector },
        template: {
          metadata: { labels, annotations: { ...deployment.annotations, [SERVER_CONFIG_HASH]: hash } },
          spec: podSpec(server, transportType === "stdio"),
        },
      },
    },
    service: {
      metadata,
      spec: {
        selector,
        ports: [{ name: "http", protocol: "TCP", port: deployment.port, targetPort: deployment.port }],
      },
    },
  };
}

function podSpec({ metadata, spec }: MCPServer, isStdio: boolean): JsonFields {
  const { deployment } = spec;
  const { cmd = "", initContainer, configMapRefs = [] } = deployment;
  const maps = configMapRefs.filter(({ name }) => name !== "");
  const binary = { name: "binary", mountPath: "/adapterbin" };
  const open = (part: unknown): Json | undefined => part as Json | undefined;
  return {
    serviceAccountName: deployment.serviceAccountName ?? metadata.name,
    imagePullSecrets: open(deployment.imagePullSecrets),
    securityContext: open(deployment.podSecurityContext),
    nodeSelector: deployment.nodeSelector,
    tolerations: open(deployment.tolerations),
    affinity: open(deployment.affinity),
    initContainers: isStdio
      ? [
          {
            name: "copy-binary",
            image: initContainer?.image || GATEWAY_IMAGE,
            imagePullPolicy: initContainer?.imagePullPolicy ?? "IfNotPresent",
            args: ["--copy-self", "/adapterbin/agentgateway"],
            resources: open(initContainer?.resources),
            securityContext: open(initContainer?.securityContext ?? deployment.securityContext),
            volumeMounts: [binary],
          },
        ]
      : undefined,
    containers: [
      {
        name: "mcp-server",
        image: deployment.image || DEFAULT_IMAGES[cmd],
        imagePullPolicy: deployment.imagePullPolicy ?? "IfNotPresent",
        ...(isStdio
          ? { command: ["/adapterbin/agentgateway"], args: ["-f", "/config/local.yaml"] }
          : { command: cmd === "" ? undefined : [cmd], args: nonEmpty(deployment.args) }),
        env: Object.entries(deployment.env ?? {})
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, value]) => ({ name, value })),
        envFrom: nonEmpty(
          (deployment.secretRefs ?? []).filter(({ name }) => name !== "").map(({ name }) => ({ secretRef: { name } })),
        ),
        resources: open(deployment.resources),
        securityContext: open(deployment.securityContext),
        volumeMounts: [
          { name: "config", mountPath: "/config" },
          ...(isStdio ? [binary] : []),
          ...maps.map(({ name }) => ({ name: `cm-${name}`, mountPath: `/configmaps/${name}`, readOnly: true })),
          ...((deployment.volumeMounts ?? []) as readonly JsonFields[]),
        ],
      },
      ...((deployment.sidecars ?? []) as readonly JsonFields[]),
    ],
    volumes: [
      { name: "config", configMap: { name: metadata.name } },
      ...(isStdio ? [{ name: "binary", emptyDir: {} }] : []),
      ...maps.map(({ name }) => ({ name: `cm-${name}`, configMap: { name } })),
      ...((deployment.volumes ?? []) as readonly JsonFields[]),
    ],
  };
}

function gatewayConfig({ metadata, spec }: MCPServer): JsonFields {
  const { deployment, transportType, httpTransport } = spec;
  const { name } = metadata;
  const target: JsonFields =
    transportType === "stdio"
      ? {
          name,
          stdio: dropEmpty({
            cmd: deployment.cmd ?? "",
            args: nonEmpty(deployment.args),
            env: nonEmpty(deployment.env),
          }),
        }
      : { name, sse: { host: "localhost", port: httpTransport?.targetPort ?? 0, path: httpTransport?.path ?? "" } };
  const route = {
    name: "mcp",
    matches: [{ path: { pathPrefix: "/sse" } }, { path: { pathPrefix: "/mcp" } }],
    backends: [{ weight: 100, mcp: { targets: [target] } }],
  };
  return {
    config: {},
    binds: [{ port: deployment.port, listeners: [{ name: "default", protocol: "HTTP", routes: [route] }] }],
  };
}

const dropEmpty = (fields: JsonFields): JsonFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
