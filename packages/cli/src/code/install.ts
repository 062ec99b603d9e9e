import type { JsonObject } from "setpoint";

export interface InstallOptions {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** What `setpoint run` is told to run. */
  readonly operator: string;
}

const METRICS_PORT = 8080;
const HEALTH_PORT = 8081;

/** What runs an operator in a cluster, around its RBAC. */
export function installManifests(options: InstallOptions): {
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
} {
  const { namespace } = options;
  return {
    before: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }],
    after: [deployment(options)],
  };
}

function deployment({ name, namespace, image, operator }: InstallOptions): JsonObject {
  const selector = { "app.kubernetes.io/name": name };
  const labels = { ...selector, "app.kubernetes.io/managed-by": "setpoint" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: selector },
      template: { metadata: { labels }, spec: podSpec(name, image, operator) },
    },
  };
}

function podSpec(name: string, image: string, operator: string): JsonObject {
  const probe = (path: string): JsonObject => ({ httpGet: { path, port: "health" } });
  return {
    serviceAccountName: name,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "operator",
        image,
        args: [
          ...["run", operator, "--leader-elect"],
          `--metrics-bind-address=:${METRICS_PORT}`,
          `--health-probe-bind-address=:${HEALTH_PORT}`,
        ],
        env: [{ name: "SETPOINT_METRICS_ACCESS", value: "rbac" }],
        ports: [
          { name: "metrics", containerPort: METRICS_PORT },
          { name: "health", containerPort: HEALTH_PORT },
        ],
        livenessProbe: probe("/livez"),
        readinessProbe: probe("/readyz"),
        resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "256Mi" } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
          runAsUser: 65532,
        },
      },
    ],
  };
}
