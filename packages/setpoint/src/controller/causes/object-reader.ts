import { SetpointError } from "../../errors/error.js";
import { isSelectedBy, type ListSelection, termsOf } from "../../informer/store/selection.js";
import { type Kind, keyOf } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { parseFieldSelector } from "../../kinds/selector/field-selector.js";
import { parseLabelSelector } from "../../kinds/selector/label-selector.js";
import type { ListReadOptions, ReadOptions } from "../context.js";
import type { ReconcileRun } from "../run/reconcile-run.js";
import type { Read, SharedText } from "./dependency-index.js";
import type { KindSource } from "./kind-source.js";

/** Stands for all watched namespaces; it is not a valid namespace name. */
export const ALL = "*";

/** The sources that a run may use, in one cluster. */
export interface Sources {
  /** Throws `KIND_NOT_DECLARED`. */
  of(kind: Kind): KindSource;
  readonly owned: readonly KindSource[];
  readonly isHome: boolean;
}

/** The reads of one run. */
export class ObjectReader {
  readonly #run: ReconcileRun;
  readonly #sources: Sources;

  constructor(run: ReconcileRun, sources: Sources) {
    this.#run = run;
    this.#sources = sources;
  }

  async get(kind: Kind, name: string, options?: ReadOptions): Promise<KubeObject> {
    const object = await this.find(kind, name, options);
    if (object) return object;
    const { id } = this.#sources.of(kind);
    throw new SetpointError(
      "DEPENDENCY_ABSENT",
      `${id} ${keyFor(kind, name, this.#namespaceFor(kind, options))} does not exist`,
    );
  }

  async find(kind: Kind, name: string, options: ReadOptions = {}): Promise<KubeObject | undefined> {
    const { tracked = true, cached = true } = options;
    const namespace = this.#namespaceFor(kind, options);
    const source = this.#sources.of(kind);
    this.#run.assertOpen();
    if (!cached) {
      const options = { ...inNamespace(namespace), signal: this.#run.currentSignal() };
      return this.#learned(kind, await source.cluster.client.find(kind, name, options));
    }
    const informer = await source.informer(namespace, this.#run);
    this.#run.assertOpen();
    const key = keyFor(kind, name, namespace);
    if (tracked) this.#run.track({ type: "object", source: source.id, key });
    return this.#learned(kind, informer.get(key));
  }

  async list(kind: Kind, options: ListReadOptions = {}): Promise<readonly KubeObject[]> {
    const { tracked = true, cached = true, labelSelector, fieldSelector } = options;
    const namespace = this.#namespaceFor(kind, options);
    const source = this.#sources.of(kind);
    this.#run.assertOpen();
    if (!cached) {
      const scope = namespace === ALL ? {} : inNamespace(namespace);
      const signal = this.#run.currentSignal();
      const { items } = await source.cluster.client.list(kind, { ...scope, labelSelector, fieldSelector, signal });
      for (const item of items) this.#run.learn(kind, item);
      return items;
    }
    const informer = await source.informer(namespace, this.#run);
    this.#run.assertOpen();
    const one = namespace === ALL || namespace === "" ? undefined : namespace;
    const selection = { namespace: one, labelSelector, fieldSelector };
    if (tracked) this.#run.track({ type: "list", source: source.id, ...selection, ...matchOf(selection) });
    const all = [...informer.list(selection)];
    const found = namespace === ALL ? source.watched(all) : all;
    for (const object of found) this.#run.learn(kind, object);
    return sorted(found);
  }

  async byIndex(
    kind: Kind,
    lookup: Readonly<Record<string, string | undefined>>,
    options: Pick<ReadOptions, "tracked"> = {},
  ): Promise<readonly KubeObject[]> {
    const source = this.#sources.of(kind);
    const { index, value } = oneLookup(source.id, lookup);
    this.#run.assertOpen();
    const namespace = source.isByNamespace ? this.#namespaceFor(kind, {}) : ALL;
    const informer = await source.informer(namespace, this.#run);
    this.#run.assertOpen();
    if (options.tracked ?? true) this.#run.track({ type: "index", source: source.id, index, value });
    const found = source.watched([...informer.byIndex(index, value)]);
    for (const object of found) this.#run.learn(kind, object);
    return sorted(found);
  }

  #learned(kind: Kind, object: KubeObject | undefined): KubeObject | undefined {
    this.#run.learn(kind, object);
    return object;
  }

  /** The namespace of a read that names none: that of the reconciled object. */
  #namespaceFor(kind: Kind, options: Pick<ListReadOptions, "namespace" | "namespaces"> = {}): string {
    if (kind.scope === "Cluster") return "";
    if (options.namespaces === "all") return ALL;
    const namespace = options.namespace ?? this.#run.object.metadata.namespace;
    const { id } = this.#sources.of(kind);
    if (namespace === ALL)
      throw new SetpointError(
        "NAMESPACE_MISSING",
        `${id}: "*" is not a namespace; to list all, pass namespaces: "all"`,
      );
    if (namespace) return namespace;
    const message = `${id}: the read needs a namespace, because ${this.#run.key} has none`;
    throw new SetpointError("NAMESPACE_MISSING", message);
  }
}

export function keyFor(kind: Kind, name: string, namespace: string | undefined): string {
  return kind.scope === "Namespaced" ? `${namespace}/${name}` : name;
}

function oneLookup(id: string, lookup: unknown): { readonly index: string; readonly value: string } {
  const entries = typeof lookup === "object" && lookup !== null ? Object.entries(lookup) : [];
  const [[index, value] = []] = entries;
  if (entries.length === 1 && index !== undefined && typeof value === "string") return { index, value };
  throw new SetpointError(
    "INFORMER_INDEX_UNKNOWN",
    `${id}: byIndex takes one index with its value, such as { node: "node-1" }`,
  );
}

function inNamespace(namespace: string): { readonly namespace?: string } {
  return namespace === "" ? {} : { namespace };
}

/** The matcher of a selection. */
function matchOf(selection: ListSelection): Pick<Read & { type: "list" }, "matches" | "shared"> {
  const terms = termsOf(selection);
  return terms.length === 0 ? {} : { matches: (object) => isSelectedBy(terms, object), shared: sharedTexts(selection) };
}

/** The equality terms of the selectors: every match satisfies each. */
function sharedTexts({ labelSelector, fieldSelector }: ListSelection): readonly SharedText[] {
  const shared: SharedText[] = [];
  for (const { key, operator, values } of labelSelector ? parseLabelSelector(labelSelector) : []) {
    if (operator === "In" && values.length === 1) shared.push({ type: "label", name: key, text: values[0]! });
  }
  for (const { field, operator, value } of fieldSelector ? parseFieldSelector(fieldSelector) : []) {
    if (operator === "=") shared.push({ type: "field", name: field, text: value });
  }
  return shared;
}

function sorted(objects: readonly KubeObject[]): readonly KubeObject[] {
  const keyed = objects.map((object) => ({ key: keyOf(object), object }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return keyed.map(({ object }) => object);
}
