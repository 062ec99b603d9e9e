import type { Client } from "../client/client.js";
import { nameOfRequest } from "../client/request-summary.js";
import { SetpointError } from "../errors/error.js";

/** A client whose writes are only tried out: servers check and answer them as ever, and keep nothing. */
export function dryRunClient(client: Client): Client {
  const dryRun = true;
  return {
    server: client.server,
    namespace: client.namespace,
    get: (kind, name, options) => client.get(kind, name, options),
    find: (kind, name, options) => client.find(kind, name, options),
    list: (kind, options) => client.list(kind, options),
    pages: (kind, options) => client.pages(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    logs: (pod, options) => client.logs(pod, options),
    discover: (options) => client.discover(options),
    getSubresource: (kind, name, subresource, options) => client.getSubresource(kind, name, subresource, options),
    create: (kind, object, options) => client.create(kind, object, { ...options, dryRun }),
    update: (kind, object, options) => client.update(kind, object, { ...options, dryRun }),
    patch: (kind, name, patch, options) => client.patch(kind, name, patch, { ...options, dryRun }),
    apply: (kind, object, options) => client.apply(kind, object, { ...options, dryRun }),
    delete: (kind, name, options) => client.delete(kind, name, { ...options, dryRun }),
    deleteCollection: (kind, options) => client.deleteCollection(kind, { ...options, dryRun }),
    createSubresource: (kind, name, subresource, body, options) =>
      client.createSubresource(kind, name, subresource, body, { ...options, dryRun }),
    updateSubresource: (kind, name, subresource, body, options) =>
      client.updateSubresource(kind, name, subresource, body, { ...options, dryRun }),
    raw(request) {
      if (request.method === "GET" || request.method === "HEAD") return client.raw(request);
      throw new SetpointError("EFFECT_NOT_RUN", `${nameOfRequest(request)} is not sent in a plan`);
    },
    // The client belongs to whoever gave it.
    [Symbol.asyncDispose]: async () => {},
  };
}
