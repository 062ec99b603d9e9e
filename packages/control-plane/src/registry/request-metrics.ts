import type { ApiResponse } from "../api/api-request.js";
import type { Storage } from "../storage/storage.js";
import { text } from "./negotiation/answer.js";

interface Labels {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly code: number;
}

/** Counts requests and stored objects for `/metrics`, with the real server's metric names. */
export class RequestMetrics {
  readonly #storage: Storage;
  /** Counters by formatted labels. Verbs, resources and codes bound their number; clients cannot invent labels. */
  readonly #requests = new Map<string, { count: number }>();
  /** The last counter: most requests have the same labels as the one before. */
  #latest: (Labels & { readonly counter: { count: number } }) | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  count({ verb, group, resource, code }: Labels): void {
    const latest = this.#latest;
    const isSame =
      latest?.verb === verb && latest.group === group && latest.resource === resource && latest.code === code;
    if (!isSame) {
      const key = `code="${code}",group="${group}",resource="${resource}",verb="${verb.toUpperCase()}"`;
      const counter = this.#requests.get(key) ?? { count: 0 };
      this.#requests.set(key, counter);
      this.#latest = { verb, group, resource, code, counter };
    }
    this.#latest!.counter.count++;
  }

  /** Formats all metrics. `more` is text of other metrics in the same format. */
  answer(more = ""): ApiResponse {
    const requests = [...this.#requests].map(([labels, { count }]) => `apiserver_request_total{${labels}} ${count}`);
    const objects = [...this.#storage.resources()].map((resource) => {
      const slash = resource.indexOf("/");
      const labels = `group="${resource.slice(0, slash)}",resource="${resource.slice(slash + 1)}"`;
      return `apiserver_resource_objects{${labels}} ${this.#storage.snapshot(resource)!.size}`;
    });
    const lines = [
      "# HELP apiserver_request_total Requests by verb, resource and code.",
      "# TYPE apiserver_request_total counter",
      ...requests.sort(),
      "# HELP apiserver_resource_objects Stored objects by resource.",
      "# TYPE apiserver_resource_objects gauge",
      ...objects.sort(),
      "# HELP apiserver_storage_revision The newest resourceVersion.",
      "# TYPE apiserver_storage_revision gauge",
      `apiserver_storage_revision ${this.#storage.revision}`,
    ];
    return text(200, `${lines.join("\n")}\n${more}`, {
      "content-type": "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
    });
  }
}
