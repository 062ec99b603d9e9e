import { SetpointError } from "../errors/error.js";
import { type Kind, kindId } from "../kinds/kind.js";

export type QueryValue = string | number | boolean | undefined;

export interface PathParts {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
}

/**
 * The path and query of a kind's collection or object. Throws `REQUEST_INVALID` for a name that is not a single path
 * segment, and for a namespaced object without a namespace: the server would read those as another path.
 */
export function apiPath(kind: Kind, parts: PathParts = {}): string {
  const { namespace, name, subresource } = parts;
  let path = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (kind.scope === "Namespaced" && namespace) path += `/namespaces/${segment(kind, "namespace", namespace)}`;
  else if (kind.scope === "Namespaced" && name !== undefined) {
    throw new SetpointError("REQUEST_INVALID", `${kindId(kind)} "${name}": a namespaced object needs its namespace`);
  }
  path += `/${kind.plural}`;
  if (name !== undefined) path += `/${segment(kind, "name", name)}`;
  if (subresource)
    path += `/${subresource
      .split("/")
      .map((part) => segment(kind, "subresource", part))
      .join("/")}`;
  return path + queryOf(parts.query);
}

/** `?a=b&c=d`, or empty. Omits undefined and empty values. */
export function queryOf(query: PathParts["query"] = {}): string {
  let text = "";
  for (const name in query) {
    const value = query[name];
    if (value === undefined || value === "") continue;
    text += `${text ? "&" : "?"}${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

function segment(kind: Kind, part: string, value: string): string {
  if (value === "" || value === "." || value === ".." || /[/%]/.test(value)) {
    throw new SetpointError("REQUEST_INVALID", `${kindId(kind)}: ${JSON.stringify(value)} cannot be a ${part}`);
  }
  return encodeURIComponent(value);
}
