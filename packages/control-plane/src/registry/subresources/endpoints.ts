import { badRequest } from "../../api/status-error.js";
import type { Endpoint } from "../endpoint.js";
import { bindingEndpoint } from "./pod-binding.js";
import { evictionEndpoint } from "./pod-eviction.js";
import { logEndpoint } from "./pod-log.js";
import { scaleEndpoint } from "./scale.js";

/** No containers run here, so there is nothing to proxy to. */
const noContainers: Endpoint = async ({ definition, subresource, name }) => {
  const what = `${definition.plural}/${subresource?.name ?? ""}`;
  throw badRequest(`${what} of "${name}" is not available: no containers run in this control plane`);
};

/** Subresources with their own endpoint. `*` matches every resource. */
export const SUBRESOURCE_ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ["*/scale", scaleEndpoint],
  ["/pods/binding", bindingEndpoint],
  ["/bindings", bindingEndpoint],
  ["/pods/eviction", evictionEndpoint],
  ["/pods/log", logEndpoint],
  ["/pods/proxy", noContainers],
  ["/services/proxy", noContainers],
  ["/nodes/proxy", noContainers],
]);
