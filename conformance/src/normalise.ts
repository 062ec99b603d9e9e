/** Headers that are compared; the rest (dates, audit ids, flow control) depends on the server. */
const COMPARED_HEADERS = ["content-type", "warning", "retry-after", "location", "allow", "www-authenticate"];

/** Values that differ between two servers without a difference in meaning. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** A cell with an age: `3s`, `2m5s`. */
const AGE = /^(\d+[dhms])+$/;
/** A resourceVersion within a text that quotes an object. */
const QUOTED_VERSION = /(resourceVersion\W{1,12}|in record \()\d+/g;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** One step of a case in the transcripts of both servers. */
export interface Step {
  readonly what: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Lists and bookmarks carry the revision of the whole server, which other cases advance: only its presence counts. */
function isMomentary(value: object): boolean {
  if ("items" in value || "rows" in value) return true;
  const metadata = (value as { metadata?: { name?: unknown; resourceVersion?: unknown } }).metadata;
  return metadata?.resourceVersion !== undefined && metadata.name === undefined;
}

/** The real server collects the problems of an object in hash map order: only their set counts, not their order. */
function sortCauses(shown: Record<string, unknown>): void {
  const details = shown.details as { causes?: unknown[] } | undefined;
  if (!Array.isArray(details?.causes) || details.causes.length < 2) return;
  details.causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  shown.message = String(shown.message).replace(/\[.*\]/s, "[…]");
}

/** Entries are ordered by their times, which are whole seconds: whether two writes share one is random. */
function sortManagers(shown: Record<string, unknown>): void {
  if (!Array.isArray(shown.managedFields)) return;
  const rank = (entry: Record<string, unknown>): string =>
    [entry.manager, entry.operation, entry.subresource, entry.apiVersion].join("/");
  shown.managedFields.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function markVersion(shown: Record<string, unknown>): void {
  const metadata = shown.metadata as Record<string, unknown> | undefined;
  if (metadata?.resourceVersion) metadata.resourceVersion = "<moment>";
}

/**
 * Replaces what must differ between two runs: uids by the order of their appearance, resourceVersions by their rank
 * among those that the case saw (so that their order still counts), times and generated suffixes by a mark.
 */
export class Normaliser {
  readonly #uids = new Map<string, string>();
  readonly #versions = new Set<string>();
  readonly #generated = new Map<string, string>();

  /** Marks a generated name, so that it is replaced by its number. */
  addGenerated(name: string): void {
    if (!this.#generated.has(name)) this.#generated.set(name, `<generated-${this.#generated.size + 1}>`);
  }

  /** The transcript with its values replaced; call it after the case has ended, because ranks need all versions. */
  transcript(steps: readonly Step[]): readonly Step[] {
    for (const step of steps) this.#collect(step.body);
    const ranked = [...this.#versions].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    const ranks = new Map(ranked.map((version, index) => [version, `rv${index + 1}`]));
    const shown = steps.map((step) => ({
      what: this.#text(step.what.replace(/(resourceVersion|continue)=[^&]+/g, "$1=<…>")),
      ...(step.status === undefined ? {} : { status: step.status }),
      ...(step.headers === undefined ? {} : { headers: this.#headers(step.headers) }),
      ...(step.body === undefined ? {} : { body: this.#value(step.body, "", ranks) }),
    }));
    // Like a recorded transcript, in which undefined in a list becomes null.
    return JSON.parse(JSON.stringify(shown)) as readonly Step[];
  }

  #headers(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const kept = COMPARED_HEADERS.filter((name) => headers[name] !== undefined);
    return Object.fromEntries(kept.map((name) => [name, this.#value(headers[name], name, new Map())]));
  }

  #collect(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#collect(item);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key === "metadata" && isMomentary(value)) continue;
        if (key === "resourceVersion" && typeof item === "string" && /^[1-9]\d*$/.test(item)) this.#versions.add(item);
        else this.#collect(item);
      }
    }
  }

  #value(value: unknown, key: string, ranks: ReadonlyMap<string, string>): unknown {
    if (typeof value === "string") {
      if (key === "resourceVersion") return ranks.get(value) ?? value;
      if (key === "continue") return value === "" ? "" : "<continue>";
      if (key === "token") return "<token>";
      if (key === "cells" && AGE.test(value)) return "<age>";
      return this.#text(value);
    }
    if (Array.isArray(value)) return value.map((item) => this.#value(item, key, ranks));
    if (typeof value === "object" && value !== null) {
      const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
      const shown = Object.fromEntries(
        sorted.map(([name, item]) => [this.#text(name), this.#value(item, name, ranks)]),
      );
      if (isMomentary(value)) markVersion(shown);
      sortCauses(shown);
      sortManagers(shown);
      return shown;
    }
    return value;
  }

  #text(text: string): string {
    let shown = text.replace(TIME, "<time>");
    shown = shown.replace(UID, (uid) => {
      if (!this.#uids.has(uid)) this.#uids.set(uid, `<uid-${this.#uids.size + 1}>`);
      return this.#uids.get(uid)!;
    });
    shown = shown.replace(QUOTED_VERSION, "$1<version>");
    for (const [name, mark] of this.#generated) shown = shown.replaceAll(name, mark);
    return shown;
  }
}
