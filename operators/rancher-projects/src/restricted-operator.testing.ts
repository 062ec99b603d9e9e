import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, isAlreadyExists, type Kind } from "setpoint";
import type { Transport, TransportResponse } from "setpoint/client";
import { systemClock } from "setpoint/clock";
import type { RbacRule } from "setpoint/controller";
import { untypedKind } from "setpoint/kinds";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { SelfSubjectAccessReview } from "setpoint/kinds/authorization.k8s.io/v1";
import { Namespace, ServiceAccount } from "setpoint/kinds/v1";
import { Manager, rbacManifests, rbacRules } from "setpoint/manager";
import type { SentRequest } from "setpoint/testing";
import { parse, stringify } from "yaml";
import { projectCrd } from "./project-crd.js";
import { type RancherProjectsOptions, rancherProjects } from "./rancher-projects.js";

const NAME = "rancher-projects";
const HOME = "setpoint-system";

/** The rules that `setpoint rbac rancher-projects --leader-elect` prints. */
export const printedRules = rbacRules([rancherProjects()], { leaderElection: { name: NAME, namespace: HOME } });

type Sent = Pick<SentRequest, "method" | "path">;

/** Answers a request instead of the server; undefined lets it pass. */
export type Fault = (request: Sent) => TransportResponse | undefined;

export interface RestrictedOperatorOptions {
  /** The exact permissions of its ServiceAccount. Defaults to the printed rules. */
  readonly rules?: readonly RbacRule[];
  readonly settings?: RancherProjectsOptions;
  readonly fault?: Fault;
}

/** Runs the operator with the token of a ServiceAccount that has exactly the given rules. */
export class RestrictedOperator implements AsyncDisposable {
  readonly admin: Client;
  /** Paths that the server refused. */
  readonly refused: readonly string[];
  /** All requests to the server. */
  readonly sent: readonly Sent[];
  readonly #client: Client;
  readonly #manager: Manager;
  readonly #folder: string;

  private constructor(admin: Client, folder: string, client: Client, manager: Manager, wire: Wire) {
    this.admin = admin;
    this.#folder = folder;
    this.#client = client;
    this.#manager = manager;
    this.refused = wire.refused;
    this.sent = wire.sent;
  }

  /** `kubeconfig` is an administrator's, as text. */
  static async start(kubeconfig: string, options: RestrictedOperatorOptions = {}): Promise<RestrictedOperator> {
    const { rules = printedRules, settings = {}, fault = () => undefined } = options;
    const folder = mkdtempSync(join(tmpdir(), "setpoint-rancher-"));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const admin = await connect({ kubeconfig: file("admin", kubeconfig) });
    const ensure = <T>(create: Promise<T>): Promise<T | undefined> =>
      create.catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
        return undefined;
      });
    await ensure(admin.create(CustomResourceDefinition, projectCrd));
    for (const name of ["local", "c-abc123", HOME]) await ensure(admin.create(Namespace, { metadata: { name } }));
    for (const manifest of rbacManifests(rules, { name: NAME, namespace: HOME })) {
      await admin.apply(kindOf(manifest as { apiVersion: string; kind: string }), manifest as never, { force: true });
    }
    const { status } = await admin.createSubresource<{ status: { token: string } }>(ServiceAccount, NAME, {
      subresource: "token",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
      namespace: HOME,
    });
    const wire: Wire = { refused: [], sent: [], fault };
    const restricted = { ...parse(kubeconfig), users: [] as object[] };
    restricted.users = restricted.contexts.map((each: { context: { user: string } }) => {
      return { name: each.context.user, user: { token: status.token } };
    });
    const own = file("operator", stringify(restricted));
    await untilGranted(own, rules);
    const client = await connect({
      kubeconfig: own,
      wrap: (transport) => watched(transport, wire),
    });
    const manager = new Manager({ name: NAME, client, leaderElection: { namespace: HOME }, grace: 1_000 });
    manager.add(rancherProjects(settings));
    void manager.start().catch(() => undefined);
    return new RestrictedOperator(admin, folder, client, manager, wire);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager.stop();
    await this.#client[Symbol.asyncDispose]();
    await this.admin[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Wire {
  readonly refused: string[];
  readonly sent: Sent[];
  readonly fault: Fault;
}

/** A server notices roles and bindings a moment after it has stored them, and refuses until then. */
async function untilGranted(kubeconfig: string, rules: readonly RbacRule[]): Promise<void> {
  await using client = await connect({ kubeconfig });
  const isGranted = async (resourceAttributes: object): Promise<boolean> => {
    const { status } = await client.create(SelfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } });
    return status?.allowed === true;
  };
  for (const { namespace = "", apiGroups, resources, resourceNames = [""], verbs } of rules) {
    for (const group of apiGroups)
      for (const each of resources)
        for (const name of resourceNames)
          for (const verb of verbs) {
            const [resource, subresource = ""] = each.split("/");
            const attributes = { namespace, group, resource, subresource, name, verb };
            while (!(await isGranted(attributes))) await systemClock.sleep(50);
          }
  }
}

/** Records requests and refusals, and injects the fault. */
function watched(transport: Transport, { refused, sent, fault }: Wire): Transport {
  return {
    request: async (request) => {
      sent.push({ method: request.method, path: request.path });
      const failure = fault(request);
      if (failure) return failure;
      const response = await transport.request(request);
      if (response.status === 403) refused.push(request.path);
      return response;
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Kind {
  const scope = kind.startsWith("Cluster") ? "Cluster" : "Namespaced";
  return untypedKind(`${apiVersion}/${kind}` as `${string}/${string}`, { scope });
}
