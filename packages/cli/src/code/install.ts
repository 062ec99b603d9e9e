import type { JsonObject } from "setpoint";
import type { OperatorInstallation } from "setpoint/command";
import type { WebhookService } from "./webhook-service.js";

export interface InstallOptions {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** The arguments of `setpoint run`; without them, the image runs its own module, configured by variables. */
  readonly operator?: string;
  /** What that operator adds. */
  readonly installation?: OperatorInstallation;
  /** The Service of the webhooks of the module's apps. */
  readonly service?: WebhookService;
}

const METRICS_PORT = 8080;
const HEALTH_PORT = 8081;
const WEBHOOK_PORT = 9443;
/** One leads, the other waits with warm caches, so that a rollout or a lost node leaves no gap. */
const REPLICAS = 2;
/** Runs may take 30 s to end on a stop (`grace`); what they leave undone, webhooks and the Lease need some more. */
const TERMINATION_SECONDS = 60;

/** The objects around an operator's RBAC that run it in a cluster. */
export function installManifests(options: InstallOptions): {
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
} {
  const { namespace, name, service } = options;
  return {
    before: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }],
    after: [
      deployment(options),
      ...(service ? [webhookService(service, selectorOf(name))] : []),
      ...(options.installation?.services ?? []).map((each) => serviceOf(each, namespace, selectorOf(name))),
    ],
  };
}

function selectorOf(name: string): Record<string, string> {
  return { "app.kubernetes.io/name": name };
}

function webhookService(metadata: WebhookService, selector: JsonObject): JsonObject {
  const ports = [{ name: "webhooks", port: 443, targetPort: "webhooks" }];
  return { apiVersion: "v1", kind: "Service", metadata: { ...metadata }, spec: { selector, ports } };
}

function serviceOf(
  { name, port, targetPort }: NonNullable<OperatorInstallation["services"]>[number],
  namespace: string,
  selector: JsonObject,
): JsonObject {
  const ports = [{ name: targetPort, port, targetPort }];
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { selector, ports } };
}

function deployment(options: InstallOptions): JsonObject {
  const { name, namespace } = options;
  const selector = selectorOf(name);
  const labels = { ...selector, "app.kubernetes.io/managed-by": "setpoint" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: selector },
      template: { metadata: { labels }, spec: podSpec(options) },
    },
  };
}

/** Configures the process as the manifests expect: `run` always reads variables, but flags only if given `args`. */
function settings({ name, operator, service, installation }: InstallOptions): JsonObject {
  const access = {
    SETPOINT_METRICS_ACCESS: "rbac",
    ...(service ? { SETPOINT_WEBHOOK_SERVICE: `${service.namespace}/${service.name}` } : {}),
  };
  if (operator !== undefined) {
    const flags = [`--metrics-bind-address=:${METRICS_PORT}`, `--health-probe-bind-address=:${HEALTH_PORT}`];
    const { args = [], env = [] } = installation ?? {};
    return { args: ["run", operator, "--leader-elect", ...flags, ...args], env: [...variables(access), ...env] };
  }
  return {
    env: variables({
      SETPOINT_NAME: name,
      SETPOINT_LEADER_ELECTION: "true",
      SETPOINT_LEADER_ELECTION_NAME: name,
      SETPOINT_METRICS: `:${METRICS_PORT}`,
      SETPOINT_HEALTH: `:${HEALTH_PORT}`,
      ...access,
    }),
  };
}

function variables(values: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function podSpec(options: InstallOptions): JsonObject {
  const { name, image, service } = options;
  const probe = (path: string): JsonObject => ({ httpGet: { path, port: "health" } });
  return {
    serviceAccountName: name,
    terminationGracePeriodSeconds: TERMINATION_SECONDS,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "operator",
        image,
        ...settings(options),
        ports: [
          { name: "metrics", containerPort: METRICS_PORT },
          { name: "health", containerPort: HEALTH_PORT },
          ...(service ? [{ name: "webhooks", containerPort: WEBHOOK_PORT }] : []),
          ...(options.installation?.ports ?? []),
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
