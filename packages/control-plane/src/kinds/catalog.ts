import type { ResourceDefinition } from "./resource-definition.js";

/** One API group as discovery shows it. */
export interface CatalogGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly CatalogVersion[];
}

export interface CatalogVersion {
  readonly version: string;
  readonly resources: readonly ResourceDefinition[];
}

/**
 * Every resource that is served now: the fixed built-in ones, and those of CRDs, which come and go. Discovery, OpenAPI
 * and routes are derived from it. They are up to date as long as `generation` stays the same.
 */
export class ResourceCatalog {
  readonly #builtIn: readonly ResourceDefinition[];
  /** By the name of the CRD, in the order of installation. */
  readonly #custom = new Map<string, readonly ResourceDefinition[]>();
  readonly #byPath = new Map<string, ResourceDefinition>();
  readonly #byKind = new Map<string, ResourceDefinition>();
  readonly #byStorage = new Map<string, ResourceDefinition>();
  #groups: readonly CatalogGroup[] | undefined;
  #generation = 1;

  constructor(builtIn: readonly ResourceDefinition[]) {
    this.#builtIn = builtIn;
    for (const definition of builtIn) this.#index(definition);
  }

  /** Increases with every change of the served resources. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  findKind(apiVersion: string, kind: string): ResourceDefinition | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** The resource at its storage version. */
  stored(storageId: string): ResourceDefinition | undefined {
    return this.#byStorage.get(storageId);
  }

  /** Whether the group is built in. An unknown resource of any other group gets a plain-text 404. */
  isBuiltInGroup(group: string): boolean {
    return this.#builtIn.some((definition) => definition.group === group);
  }

  get groups(): readonly CatalogGroup[] {
    return (this.#groups ??= groupsOf([...this.definitions()].filter(({ isServed }) => isServed)));
  }

  *definitions(): Iterable<ResourceDefinition> {
    yield* this.#builtIn;
    for (const definitions of this.#custom.values()) yield* definitions;
  }

  /** Serves these versions of a CRD instead of those served so far. */
  install(crd: string, definitions: readonly ResourceDefinition[]): void {
    this.#unindex(crd);
    this.#custom.set(crd, definitions);
    for (const definition of definitions) this.#index(definition);
    this.#changed();
  }

  uninstall(crd: string): void {
    if (!this.#custom.has(crd)) return;
    this.#unindex(crd);
    this.#custom.delete(crd);
    this.#changed();
  }

  #index(definition: ResourceDefinition): void {
    const { group, version, plural, kind, storageId, storageVersion } = definition;
    if (definition.isServed) {
      this.#byPath.set(`${group}/${version}/${plural}`, definition);
      this.#byKind.set(`${apiVersionOf(definition)}/${kind}`, definition);
    }
    const isStored = version === storageVersion && storageId === `${group}/${plural}`;
    if (isStored) this.#byStorage.set(storageId, definition);
  }

  #unindex(crd: string): void {
    for (const definition of this.#custom.get(crd) ?? []) {
      const { group, version, plural, kind, storageId } = definition;
      this.#byPath.delete(`${group}/${version}/${plural}`);
      this.#byKind.delete(`${apiVersionOf(definition)}/${kind}`);
      this.#byStorage.delete(storageId);
    }
  }

  #changed(): void {
    this.#generation++;
    this.#groups = undefined;
  }
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

function groupsOf(definitions: Iterable<ResourceDefinition>): readonly CatalogGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>();
  const custom = new Set<string>();
  for (const definition of definitions) {
    const { group, version } = definition;
    const versions = groups.get(group) ?? new Map<string, ResourceDefinition[]>();
    groups.set(group, versions);
    const resources = versions.get(version);
    if (resources) resources.push(definition);
    else versions.set(version, [definition]);
    if (!definition.isBuiltIn) custom.add(group);
  }
  return [...groups].map(([name, versions]) => {
    const listed = [...versions].map(([version, resources]) => ({ version, resources }));
    return { name, versions: custom.has(name) ? listed.sort((a, b) => compareVersions(a.version, b.version)) : listed };
  });
}

/** Kubernetes' order of versions, the preferred one first: v2, v1, v1beta2, v1alpha1, then the rest by name. */
function compareVersions(a: string, b: string): number {
  const [first, second] = [parseVersion(a), parseVersion(b)];
  if (first && second) {
    for (let index = 0; index < 3; index++) if (first[index] !== second[index]) return second[index]! - first[index]!;
    return 0;
  }
  if (first || second) return first ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Stability, major, minor. */
function parseVersion(version: string): readonly number[] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
