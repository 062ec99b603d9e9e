import type { KubeObject } from "setpoint";
import { systemClock, systemRandom } from "setpoint/clock";
import type { ApiRequest } from "./api/api-request.js";
import { asJson } from "./api/json.js";
import { parseRequestInfo } from "./api/request-info.js";
import type { Facts } from "./facts/facts.js";
import type { MadeObject, Rehearsal, RehearsalEnd } from "./registry/body/rehearsal.js";
import { contentTypeOf, isYamlType, largeYaml } from "./registry/body/request-document.js";
import { slicedJson } from "./registry/body/sliced-json.js";
import type { Endpoint } from "./registry/endpoint.js";
import { answer } from "./registry/negotiation/answer.js";
import { parseWriteOptions } from "./registry/query/write-options.js";
import { Registry } from "./registry/registry.js";
import { decodedObject } from "./registry/write/decoded-object.js";
import { patchObject } from "./registry/write/patch-endpoint.js";
import { createObject, updateObject } from "./registry/write/write-endpoints.js";
import type { Proposal } from "./registry/write/write-request.js";
import { MemoryStorage } from "./storage/memory-storage.js";
import { OwnerIndex } from "./storage/owner-index.js";
import { SortedMap } from "./storage/sorted-map.js";
import type { StorageState, StoredObject } from "./storage/storage.js";
import { StoredState } from "./storage/stored-state.js";
import { upperLayers } from "./write-parts.js";

/** Rehearses a write in a separate registry, which contains only the rehearsal's objects. */
export async function rehearse(rehearsal: Rehearsal, facts: Facts): Promise<RehearsalEnd> {
  const clock = { ...systemClock, now: () => rehearsal.nowMs };
  await using storage = new MemoryStorage({ clock, from: stateOf(rehearsal) });
  const course = new Course();
  await using registry = new Registry({
    storage,
    clock,
    random: systemRandom,
    facts,
    controllers: false,
    hasBodyThreads: false,
    authenticate: () => rehearsal.user,
    authorizer: { authorize: () => ({ allowed: true, reason: "" }) },
    writeParts: () => ({
      strategies: upperLayers.strategies,
      admission: [],
      endpoints: new Map([[rehearsal.endpoint, course.endpoint(rehearsal)]]),
    }),
  });
  const request = requestOf(rehearsal);
  const yaml = isYamlType(contentTypeOf(request)) ? largeYaml(request) : undefined;
  const response = await registry.handler({ ...request, ...(yaml && { yaml }) } as ApiRequest);
  const { json, made, warnings } = course;
  if (response.status < 400) {
    const isRead = json !== undefined || made !== undefined;
    return { type: "fine", json, made, yaml: isRead ? undefined : yaml, warnings };
  }
  const body = response.body instanceof Uint8Array ? response.body : new Uint8Array();
  return { type: "refused", response: { ...response, body }, yaml };
}

/** Follows one write, and keeps the parsed body and the resulting object. */
class Course implements Proposal {
  readonly hasMade = false;
  json: string | undefined;
  #made: Omit<MadeObject, "warnings"> | undefined;
  /** Warnings about the body, without those of validation. */
  warnings: readonly string[] = [];

  take(): undefined {
    return undefined;
  }

  keep(old: KubeObject | undefined, made: KubeObject): void {
    this.#made = { ofRevision: old?.metadata.resourceVersion, json: slicedJson(asJson(made)) };
    this.warnings = [...this.#warnings];
  }

  validated(): undefined {
    return undefined;
  }

  /** The resulting object, after the write has ended. */
  get made(): MadeObject | undefined {
    return this.#made && { ...this.#made, warnings: this.#warnings.slice(this.warnings.length) };
  }

  readonly #warnings: string[] = [];

  endpoint({ isReadAlone }: Rehearsal): Endpoint {
    return async (call) => {
      const warn = (warning: string): void => void this.#warnings.push(warning);
      const followed = { ...call, warn, request: { ...call.request, proposal: this } };
      const { method, query } = call.request;
      if (isReadAlone) {
        const { fieldValidation } = parseWriteOptions(query, "CreateOptions");
        this.json = JSON.stringify(decodedObject(followed, fieldValidation));
        this.warnings = this.#warnings;
        return answer(200, {}, call.representation);
      }
      if (method === "POST") return createObject(followed);
      return method === "PUT" ? updateObject(followed) : patchObject(followed);
    };
  }
}

function requestOf({ method, path, query: text, headers, body, user }: Rehearsal): ApiRequest {
  const { signal } = new AbortController();
  const query = new URLSearchParams(text);
  if (!query.has("dryRun")) query.set("dryRun", "All");
  const info = parseRequestInfo(method, path, query);
  return { method, path, query, info, headers, body, user, isInProcess: true, signal };
}

function stateOf({ objects }: Rehearsal): StorageState {
  const trees = new Map<string, SortedMap<StoredObject>>();
  const owners = new OwnerIndex();
  for (const { resource, key, revision, json } of objects) {
    const stored = StoredState.parse(resource, key, revision, json);
    let tree = trees.get(resource);
    if (tree === undefined) trees.set(resource, (tree = new SortedMap()));
    tree.set(key, stored);
    owners.restore(stored);
  }
  return { revision: Math.max(1, ...objects.map(({ revision }) => revision)), trees, owners };
}
