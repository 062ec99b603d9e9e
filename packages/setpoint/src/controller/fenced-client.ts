import type { CallOptions, Client } from "../client/client.js";
import type { Fence } from "./fence.js";

/**
 * A client that sends nothing once the lease has ended, though nobody may have noticed yet: it asks right before each
 * request goes out, also one that is tried again or has waited for its connection. What is in flight then is ended by the
 * signal that its caller has given, which must end with the lease; by the lease where none was given.
 */
export function fencedClient(client: Client, fence: Fence): Client {
  const beforeSend = (): void => fence.check();
  const fenced = <Options extends CallOptions>(options?: Options): Options =>
    ({ ...options, signal: options?.signal ?? fence.lost, beforeSend }) as unknown as Options;
  return {
    server: client.server,
    namespace: client.namespace,
    get: (kind, name, options) => client.get(kind, name, fenced(options)),
    find: (kind, name, options) => client.find(kind, name, fenced(options)),
    list: (kind, options) => client.list(kind, fenced(options)),
    pages: (kind, options) => client.pages(kind, fenced(options)),
    watch: (kind, options) => client.watch(kind, fenced(options)),
    logs: (pod, options) => client.logs(pod, fenced(options)),
    discover: (options) => client.discover(fenced(options)),
    getSubresource: (kind, name, subresource, options) =>
      client.getSubresource(kind, name, subresource, fenced(options)),
    create: (kind, object, options) => client.create(kind, object, fenced(options)),
    update: (kind, object, options) => client.update(kind, object, fenced(options)),
    patch: (kind, name, patch, options) => client.patch(kind, name, patch, fenced(options)),
    apply: (kind, object, options) => client.apply(kind, object, fenced(options)),
    delete: (kind, name, options) => client.delete(kind, name, fenced(options)),
    deleteCollection: (kind, options) => client.deleteCollection(kind, fenced(options)),
    createSubresource: (kind, name, subresource, body, options) =>
      client.createSubresource(kind, name, subresource, body, fenced(options)),
    updateSubresource: (kind, name, subresource, body, options) =>
      client.updateSubresource(kind, name, subresource, body, fenced(options)),
    raw: (request) => client.raw(fenced(request)),
    // The client belongs to whoever gave it.
    [Symbol.asyncDispose]: async () => {},
  };
}
