import type { KubeObject } from "setpoint";
import type { UserInfo } from "../../api/user.js";
import type { Change, Storage } from "../../storage/storage.js";
import type { PolicyRule } from "./policy-rule.js";

export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
}

interface Binding extends KubeObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | null;
}

/** One binding that gives rules to a user. */
export interface Grant {
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`. Formatted on demand, since most grants do not decide. */
  readonly source: () => string;
  /** An error message if the role does not exist. */
  readonly rules: readonly PolicyRule[] | string;
}

const GROUP = "rbac.authorization.k8s.io";
const RESOURCES = ["clusterroles", "roles", "clusterrolebindings", "rolebindings"] as const;

/**
 * Indexes the stored roles and bindings by subject, so that the cost of a request depends on the bindings of its user
 * and not on the size of the cluster. As current as the storage's published state.
 */
export class RoleIndex implements Disposable {
  readonly #roles = new Map<string, Role>();
  /** Namespace (empty for cluster role bindings) → subject → bindings by name. */
  readonly #bindings = new Map<string, Map<string, Map<string, Binding>>>();
  readonly #subscriptions: Disposable[] = [];

  constructor(storage: Storage) {
    for (const plural of RESOURCES) this.#follow(storage, plural);
  }

  #follow(storage: Storage, plural: (typeof RESOURCES)[number]): void {
    const resource = `${GROUP}/${plural}`;
    const snapshot = storage.snapshot(resource)!;
    for (const { key, object } of snapshot.entries()) this.#put(plural, key, object);
    this.#subscriptions.push(
      storage.subscribe(resource, snapshot.revision, {
        changes: (changes) => {
          for (const change of changes) this.#apply(plural, change);
        },
        ended: () => {},
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  /** The rules of a role, or an error message. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    if (roleRef.kind !== "ClusterRole" && roleRef.kind !== "Role") {
      return `unsupported role reference kind: ${JSON.stringify(roleRef.kind)}`;
    }
    const isCluster = roleRef.kind === "ClusterRole";
    const role = this.#roles.get(isCluster ? roleRef.name : `${namespace}/${roleRef.name}`);
    return role ? (role.rules ?? []) : `${roleRef.kind.toLowerCase()}.${GROUP} "${roleRef.name}" not found`;
  }

  /** The grants of a user in the cluster, then in the namespace if one is given. */
  *grants(user: UserInfo, namespace: string): Iterable<Grant> {
    yield* this.#grantsIn("", user);
    if (namespace !== "") yield* this.#grantsIn(namespace, user);
  }

  *#grantsIn(namespace: string, user: UserInfo): Iterable<Grant> {
    const bySubject = this.#bindings.get(namespace);
    if (!bySubject) return;
    const seen = new Set<Binding>();
    for (const subject of [`User/${user.name}`, ...user.groups.map((group) => `Group/${group}`)]) {
      for (const binding of bySubject.get(subject)?.values() ?? []) {
        if (seen.has(binding)) continue;
        seen.add(binding);
        yield { source: () => describe(binding, subject), rules: this.rulesOf(binding.roleRef, namespace) };
      }
    }
  }

  #apply(plural: (typeof RESOURCES)[number], { type, current, previous }: Change): void {
    const old = previous ?? current;
    if (type !== "added") this.#remove(plural, old.key, old.object);
    if (type !== "deleted") this.#put(plural, current.key, current.object);
  }

  #put(plural: string, key: string, object: KubeObject): void {
    if (!plural.endsWith("bindings")) {
      this.#roles.set(key, object as Role);
      return;
    }
    const binding = object as Binding;
    const namespace = binding.metadata.namespace ?? "";
    const bySubject = entryOf(this.#bindings, namespace, () => new Map<string, Map<string, Binding>>());
    for (const subject of subjectsOf(binding)) {
      entryOf(bySubject, subject, () => new Map<string, Binding>()).set(binding.metadata.name, binding);
    }
  }

  #remove(plural: string, key: string, object: KubeObject): void {
    if (!plural.endsWith("bindings")) {
      this.#roles.delete(key);
      return;
    }
    const binding = object as Binding;
    const namespace = binding.metadata.namespace ?? "";
    const bySubject = this.#bindings.get(namespace);
    for (const subject of subjectsOf(binding)) {
      const bindings = bySubject?.get(subject);
      bindings?.delete(binding.metadata.name);
      if (bindings?.size === 0) bySubject?.delete(subject);
    }
    if (bySubject?.size === 0) this.#bindings.delete(namespace);
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function subjectsOf(binding: Binding): readonly string[] {
  return (binding.subjects ?? []).flatMap((subject) => indexedSubject(binding, subject) ?? []);
}

/** A service account is indexed as its user name. */
function indexedSubject(binding: Binding, { kind, name, namespace }: Subject): string | undefined {
  if (kind === "User" || kind === "Group") return `${kind}/${name}`;
  const home = namespace || binding.metadata.namespace;
  return kind === "ServiceAccount" && home ? `User/system:serviceaccount:${home}:${name}` : undefined;
}

function describe(binding: Binding, indexed: string): string {
  const { name, namespace } = binding.metadata;
  const subject = (binding.subjects ?? []).find((candidate) => indexedSubject(binding, candidate) === indexed);
  const subjectName =
    subject?.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace || namespace}` : subject?.name;
  const where = namespace ? `RoleBinding "${name}/${namespace}"` : `ClusterRoleBinding "${name}"`;
  return `${where} of ${binding.roleRef.kind} "${binding.roleRef.name}" to ${subject?.kind} "${subjectName}"`;
}
