import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  connect,
  isAlreadyExists,
  type Kind,
  Manager,
  type RbacRule,
  rbacManifests,
  rbacRules,
  systemClock,
  type Transport,
  untypedKind,
} from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Event, Namespace, ServiceAccount } from "setpoint/kinds/v1";
import { expect } from "vitest";
import { parse, stringify } from "yaml";
import { ASSIGNED_ANNOTATION } from "./assignment.js";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { rancherProjects } from "./rancher-projects.js";

const NAME = "rancher-projects";
const HOME = "setpoint-system";
const KEY = "field.cattle.io/projectId";
const CLUSTER = "field.cattle.io/clusterId";

/** What `setpoint rbac rancher-projects --leader-elect` prints, as rules. */
export const printedRules = rbacRules([rancherProjects()], { leaderElection: { name: NAME, namespace: HOME } });

export function ruleName({ resources, verbs }: RbacRule): string {
  return `${resources.join()}: ${verbs.join(" ")}`;
}

/** Runs the operator with the token of a ServiceAccount that has exactly these rules. */
export class RestrictedOperator implements AsyncDisposable {
  readonly admin: Client;
  /** Paths that the server refused. */
  readonly refused: string[] = [];
  readonly #client: Client;
  readonly #manager: Manager;
  readonly #folder: string;

  private constructor(admin: Client, folder: string, client: Client, manager: Manager, refused: string[]) {
    this.admin = admin;
    this.#folder = folder;
    this.#client = client;
    this.#manager = manager;
    this.refused = refused;
  }

  /** `kubeconfig` is an administrator's, as text. */
  static async start(kubeconfig: string, rules: readonly RbacRule[]): Promise<RestrictedOperator> {
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
      await admin.apply(kindOf(manifest as { apiVersion: string; kind: string }), manifest, { force: true });
    }
    const { status } = await admin.createSubresource<{ status: { token: string } }>(
      ServiceAccount,
      NAME,
      "token",
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
      { namespace: HOME },
    );
    const refused: string[] = [];
    const restricted = { ...parse(kubeconfig), users: [] as object[] };
    restricted.users = restricted.contexts.map((each: { context: { user: string } }) => {
      return { name: each.context.user, user: { token: status.token } };
    });
    const client = await connect({
      kubeconfig: file("operator", stringify(restricted)),
      wrap: (transport) => noting(transport, refused),
    });
    const manager = new Manager({ name: NAME, client, leaderElection: { namespace: HOME }, graceMs: 1_000 });
    manager.add(rancherProjects());
    void manager.start().catch(() => undefined);
    return new RestrictedOperator(admin, folder, client, manager, refused);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager.stop();
    await this.#client[Symbol.asyncDispose]();
    await this.admin[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Case by case, each with objects of its own; rejects with the first that does not come true before the signal. */
export async function coreCases(admin: Client, signal: AbortSignal): Promise<void> {
  const world = new World(admin, signal);
  await world.untilServed();
  for (const [name, run] of Object.entries(CASES)) {
    world.step = name;
    await run(world);
  }
}

const CASES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "R1: assigned, and an event says so": async (world) => {
    await world.project("p-one", "One");
    await world.namespace("one", { appOwner: "One" });
    await world.untilAssigned("one", ["p-one", "local", "local:p-one"]);
    await world.untilEvent("one", "ProjectAssigned");
  },
  "R2: the display name counts whatever its case": async (world) => {
    await world.namespace("two", { appOwner: "oNE" });
    await world.untilAssigned("two", ["p-one", "local", "local:p-one"]);
  },
  "R3, R14, R18: no owner, an empty one, a key that does not count, an excluded namespace: untouched": async (
    world,
  ) => {
    await world.project("p-fourteen", "Other", "local", { team: "Fourteen" });
    await world.namespace("three", {});
    await world.namespace("three-empty", { appOwner: "" });
    await world.namespace("cattle-eighteen", { appOwner: "One" });
    await world.namespace("fourteen", { appOwner: "Fourteen" });
    await world.untilEvent("fourteen", "ProjectNotFound");
    for (const name of ["three", "three-empty", "cattle-eighteen", "fourteen"]) await world.expectUntouched(name);
  },
  "R4: gone before it is looked at": async (world) => {
    await world.namespace("four", { appOwner: "One" });
    await world.remove(Namespace, "four");
  },
  "R5: a second look writes nothing": async (world) => {
    await world.label("two", { other: "label" });
    const before = await world.revision("two");
    await world.namespace("five", { appOwner: "One" });
    await world.untilAssigned("five", ["p-one", "local", "local:p-one"]);
    world.expect((await world.revision("two")) === before);
  },
  "R6: what others put elsewhere stays, with an event": async (world) => {
    await world.namespace("six", { appOwner: "One", [KEY]: "p-else" });
    await world.untilEvent("six", "AssignedByOthers");
    await world.expectUntouched("six");
  },
  "R7: a changed owner moves what was assigned": async (world) => {
    await world.project("p-seven", "Seven");
    await world.label("one", { appOwner: "Seven" });
    await world.untilAssigned("one", ["p-seven", "local", "local:p-seven"]);
  },
  "R8: a project that appears later": async (world) => {
    await world.namespace("eight", { appOwner: "Eight" });
    await world.untilEvent("eight", "ProjectNotFound");
    await world.project("p-eight", "Eight");
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "R11: a project of another cluster": async (world) => {
    await world.project("p-eleven", "Eleven", "c-abc123");
    await world.namespace("eleven", { appOwner: "Eleven" });
    await world.untilAssigned("eleven", ["p-eleven", "c-abc123", "c-abc123:p-eleven"]);
  },
  "R13: a project of the own cluster comes first": async (world) => {
    await world.project("p-thirteen-there", "Thirteen", "c-abc123");
    await world.project("p-thirteen", "Thirteen");
    await world.namespace("thirteen", { appOwner: "Thirteen" });
    await world.untilAssigned("thirteen", ["p-thirteen", "local", "local:p-thirteen"]);
  },
  "R15, R20: the display name beats a label in another case; one that is no text is passed over": async (world) => {
    await world.project("p-fifteen-label", "Whatever", "local", { "cattle.io/projectName": "fifteen" });
    await world.project("p-fifteen", "Fifteen");
    await world.project("p-twenty", 20);
    await world.namespace("fifteen", { appOwner: "Fifteen" });
    await world.untilAssigned("fifteen", ["p-fifteen", "local", "local:p-fifteen"]);
  },
  "R16: two projects of one name": async (world) => {
    await world.project("p-sixteen", "Sixteen");
    await world.project("p-sixteen-too", "sixteen");
    await world.namespace("sixteen", { appOwner: "Sixteen" });
    await world.untilEvent("sixteen", "ProjectAmbiguous");
    await world.untilAssigned("sixteen", [undefined, undefined, undefined]);
  },
  "R17: drift is put right": async (world) => {
    await world.label("eight", { [KEY]: null });
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "R19: without its label a namespace stays": async (world) => {
    await world.label("five", { appOwner: null });
    await world.namespace("nineteen", { appOwner: "One" });
    await world.untilAssigned("nineteen", ["p-one", "local", "local:p-one"]);
    await world.untilAssigned("five", ["p-one", "local", "local:p-one"]);
  },
  "a project that goes away leaves its namespaces, with an event": async (world) => {
    await world.remove(Project, "p-eight", "local");
    await world.untilEvent("eight", "ProjectGone");
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
};

class World {
  step = "";
  readonly #admin: Client;
  readonly #signal: AbortSignal;

  constructor(admin: Client, signal: AbortSignal) {
    this.#admin = admin;
    this.#signal = signal;
  }

  /** A CRD takes a moment. */
  untilServed(): Promise<void> {
    return this.#until(async () => (await this.#admin.list(Project).catch(() => undefined)) !== undefined);
  }

  async project(
    name: string,
    displayName: unknown,
    namespace = "local",
    labels: Record<string, string> = {},
  ): Promise<void> {
    await this.#admin.create(Project, { metadata: { name, namespace, labels }, spec: { displayName } });
  }

  async remove(kind: Kind, name: string, namespace?: string): Promise<void> {
    await this.#admin.delete(kind, name, namespace === undefined ? {} : { namespace });
  }

  async revision(name: string): Promise<string> {
    return (await this.#admin.get(Namespace, name)).metadata.resourceVersion;
  }

  /** Nobody but its maker has written it. */
  async expectUntouched(name: string): Promise<void> {
    const { managedFields = [], annotations = {} } = (await this.#admin.get(Namespace, name)).metadata;
    this.expect(managedFields.length === 1 && annotations[ASSIGNED_ANNOTATION] === undefined);
  }

  expect(isTrue: boolean): void {
    if (!isTrue) throw new Error(`${this.step}: did not hold`);
  }

  async namespace(name: string, labels: Record<string, string>): Promise<void> {
    await this.#admin.create(Namespace, { metadata: { name, labels } });
  }

  async label(name: string, labels: Record<string, string | null>): Promise<void> {
    await this.#admin.patch(Namespace, name, { type: "merge", body: { metadata: { labels } } });
  }

  untilAssigned(name: string, expected: readonly (string | undefined)[]): Promise<void> {
    return this.#until(async () => {
      const { labels = {}, annotations = {} } = (await this.#admin.get(Namespace, name)).metadata;
      const found = [labels[KEY], labels[CLUSTER], annotations[KEY]];
      return found.every((value, at) => value === expected[at]);
    });
  }

  untilEvent(name: string, reason: string): Promise<void> {
    return this.#until(async () => {
      const { items } = await this.#admin.list(Event, { namespace: "default" });
      return items.some((event) => event.involvedObject.name === name && event.reason === reason);
    });
  }

  async #until(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) {
      if (this.#signal.aborted) throw new Error(`${this.step} did not come true`);
      await systemClock.sleep(20);
    }
  }
}

/** Notes what the server refuses. */
function noting(transport: Transport, refused: string[]): Transport {
  return {
    request: async (request) => {
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

/**
 * Runs the cases without one rule until it was missed, and `patienceMs` longer: what is refused once is refused again, so
 * a case must have failed by then. With all rules the cases take a fraction of that.
 */
export async function expectNeeded(kubeconfig: string, rule: RbacRule, patienceMs: number): Promise<void> {
  const rules = printedRules.filter((each) => each !== rule);
  await using operator = await RestrictedOperator.start(kubeconfig, rules);
  const ending = new AbortController();
  const failing = expect(coreCases(operator.admin, ending.signal)).rejects.toThrow("did not come true");
  const isRefused = (): boolean => operator.refused.some((path) => path.includes(`/${rule.resources[0]}`));
  while (!isRefused()) await systemClock.sleep(20);
  await systemClock.sleep(patienceMs);
  ending.abort();
  await failing;
}
