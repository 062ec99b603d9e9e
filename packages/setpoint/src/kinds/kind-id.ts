import { SetpointError } from "../errors/error.js";

/** `group/version/Kind`, or `version/Kind` in the core group. */
export interface KindId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly apiVersion: string;
}

/** The literal types in a kind's identifier. */
export type ParseKindId<Id extends string> = Id extends `${infer Group}/${infer Version}/${infer Kind}`
  ? { apiVersion: `${Group}/${Version}`; kind: Kind }
  : Id extends `${infer Version}/${infer Kind}`
    ? { apiVersion: Version; kind: Kind }
    : { apiVersion: string; kind: string };

const GROUP_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const VERSION = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Throws `KIND_ID_INVALID` for anything but `group/version/Kind` or `version/Kind`. */
export function parseKindId(id: string): KindId {
  const parts = id.split("/");
  const [group, version, kind] = parts.length === 2 ? ["", ...parts] : parts;
  if (parts.length < 2 || parts.length > 3 || group === undefined || version === undefined || kind === undefined) {
    throw invalid(id, "write group/version/Kind, or version/Kind for the core group");
  }
  if (parts.length === 3 && !group.split(".").every((label) => GROUP_LABEL.test(label))) {
    throw invalid(id, `the group "${group}" is not a lower-case DNS name`);
  }
  if (!VERSION.test(version)) throw invalid(id, `"${version}" is not a version such as v1 or v1beta1`);
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) throw invalid(id, `"${kind}" is not a kind such as Website`);
  return { group, version, kind, apiVersion: group ? `${group}/${version}` : version };
}

/** The English plural of a kind in lower case, as kubebuilder names resources. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return word.endsWith("y") && !/[aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

function invalid(id: string, why: string): SetpointError {
  return new SetpointError("KIND_ID_INVALID", `kind ${JSON.stringify(id)}: ${why}`);
}
