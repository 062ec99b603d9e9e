import { SetpointError } from "../errors/error.js";
import type { Scope } from "../kinds/kind.js";
import { apiErrorOf, isApiError, isNotServed } from "./api-error.js";
import type { CallOptions, Client } from "./client.js";
import { drain, readJson } from "./transport/body.js";

/** What a server serves. */
export interface Discovery {
  readonly groups: readonly DiscoveredGroup[];
  /** Groups or versions that could not be discovered, for example of an aggregated API whose server is down. */
  readonly failures: readonly DiscoveryFailure[];
}

export interface DiscoveredGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** The preferred version comes first. */
  readonly versions: readonly DiscoveredVersion[];
}

export interface DiscoveredVersion {
  readonly version: string;
  /** The server could not reach the API behind it lately, so this entry may be outdated. */
  readonly isStale: boolean;
  readonly resources: readonly DiscoveredResource[];
}

export interface DiscoveredResource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly scope: Scope;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  /** `status`, `scale`, `log`. */
  readonly name: string;
  /** The kind of the subresource's objects, and its version if that differs from the resource's. */
  readonly kind: string;
  readonly apiVersion?: string;
  readonly verbs: readonly string[];
}

export interface DiscoveryFailure {
  readonly apiVersion: string;
  readonly error: Error;
}

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/** Discovers everything in two requests if the server supports that (1.27 and later), otherwise group by group. */
export async function discover(client: Pick<Client, "raw">, options: CallOptions = {}): Promise<Discovery> {
  const failures: DiscoveryFailure[] = [];
  const groups: DiscoveredGroup[] = [];
  for (const path of ["/api", "/apis"]) {
    const document = await fetchJson(client, path, AGGREGATED, options);
    if (isAggregated(document)) groups.push(...document.items.map(aggregatedGroup));
    else groups.push(...(await legacyGroups(client, path, document, failures, options)));
  }
  return { groups, failures };
}

async function fetchJson(
  client: Pick<Client, "raw">,
  path: string,
  accept: string,
  options: CallOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { signal } = options;
  const request = { method: "GET", path, headers: { accept }, signal } as const;
  const response = await client.raw(request);
  if (response.status === 406) {
    await drain(response);
    return fetchJson(client, path, "application/json", options);
  }
  if (response.status >= 300) throw await apiErrorOf(request, response);
  const document = await readJson(request, response);
  if (typeof document !== "object" || document === null) {
    throw new SetpointError("RESPONSE_INVALID", `GET ${path}: the answer is not a discovery document`);
  }
  return document as Record<string, unknown>;
}

interface AggregatedDocument {
  readonly items: readonly AggregatedGroup[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly AggregatedResource[];
  }[];
}

interface ResponseKind {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

interface AggregatedResource {
  readonly resource: string;
  readonly singularResource?: string;
  readonly responseKind?: ResponseKind | null;
  readonly scope: Scope;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind?: ResponseKind | null;
    readonly verbs?: readonly string[];
  }[];
}

function isAggregated(document: object): document is AggregatedDocument {
  return (document as { kind?: unknown }).kind === "APIGroupDiscoveryList" && "items" in document;
}

function aggregatedGroup(group: AggregatedGroup): DiscoveredGroup {
  return {
    name: group.metadata?.name ?? "",
    versions: (group.versions ?? []).map(({ version, freshness, resources = [] }) => ({
      version,
      isStale: freshness === "Stale",
      resources: resources.map(aggregatedResource),
    })),
  };
}

function aggregatedResource(resource: AggregatedResource): DiscoveredResource {
  return {
    plural: resource.resource,
    singular: resource.singularResource ?? "",
    kind: resource.responseKind?.kind ?? "",
    scope: resource.scope,
    verbs: resource.verbs ?? [],
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    subresources: (resource.subresources ?? []).map(({ subresource, responseKind, verbs = [] }) => ({
      name: subresource,
      kind: responseKind?.kind ?? "",
      ...apiVersionField(responseKind?.group, responseKind?.version),
      verbs,
    })),
  };
}

interface LegacyResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

async function legacyGroups(
  client: Pick<Client, "raw">,
  path: string,
  document: Readonly<Record<string, unknown>>,
  failures: DiscoveryFailure[],
  options: CallOptions,
): Promise<DiscoveredGroup[]> {
  const wanted =
    path === "/api"
      ? [{ name: "", versions: (document.versions ?? []) as readonly string[] }]
      : ((document.groups ?? []) as readonly LegacyGroup[]).map(({ name, versions, preferredVersion }) => ({
          name,
          versions: preferredFirst(
            versions.map(({ version }) => version),
            preferredVersion?.version,
          ),
        }));
  return Promise.all(
    wanted.map(async ({ name, versions }) => ({
      name,
      versions: (
        await Promise.all(
          versions.map((version) =>
            legacyVersion(client, name ? `${path}/${name}` : path, name, version, failures, options),
          ),
        )
      ).filter((version) => version !== undefined),
    })),
  );
}

interface LegacyGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

function preferredFirst(versions: readonly string[], preferred: string | undefined): readonly string[] {
  if (preferred === undefined || !versions.includes(preferred)) return versions;
  return [preferred, ...versions.filter((version) => version !== preferred)];
}

/** One version of a group. A version that vanished meanwhile, or whose server is down, does not affect the others. */
async function legacyVersion(
  client: Pick<Client, "raw">,
  groupPath: string,
  group: string,
  version: string,
  failures: DiscoveryFailure[],
  options: CallOptions,
): Promise<DiscoveredVersion | undefined> {
  try {
    const document = await fetchJson(client, `${groupPath}/${version}`, "application/json", options);
    const resources = (document.resources ?? []) as readonly LegacyResource[];
    return { version, isStale: false, resources: legacyResources(resources) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (!isNotServed(error)) failures.push({ apiVersion: group ? `${group}/${version}` : version, error });
    return undefined;
  }
}

function legacyResources(resources: readonly LegacyResource[]): DiscoveredResource[] {
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map((resource) => ({
      plural: resource.name,
      singular: resource.singularName ?? "",
      kind: resource.kind,
      scope: resource.namespaced ? "Namespaced" : "Cluster",
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      subresources: resources
        .filter(({ name }) => name.startsWith(`${resource.name}/`))
        .map(({ name, kind, group, version, verbs = [] }) => ({
          name: name.slice(resource.name.length + 1),
          kind,
          ...apiVersionField(group, version),
          verbs,
        })),
    }));
}

function apiVersionField(group: string | undefined, version: string | undefined): { apiVersion?: string } {
  if (!version) return {};
  return { apiVersion: group ? `${group}/${version}` : version };
}
