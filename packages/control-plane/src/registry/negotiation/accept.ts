import { notAcceptable, StatusError } from "../../api/status-error.js";

/** The format of a response. */
export interface Representation {
  readonly mediaType: "application/json" | "application/yaml";
  /** Undefined for the object itself. */
  readonly as?: {
    readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
    readonly version: string;
  };
  readonly isPretty: boolean;
}

/** What an endpoint can turn its objects into: tables and metadata, metadata only, or nothing. */
export type Transforms = "all" | "metadata" | "none";

export const JSON_ANSWER: Representation = { mediaType: "application/json", isPretty: false };

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const BUILT_IN_TYPES = ["application/json", "application/yaml", PROTOBUF];
const CUSTOM_TYPES = ["application/json", "application/yaml"];
/** Media types of a watch. */
export const STREAMED_TYPES = ["application/json;stream=watch", `${PROTOBUF};stream=watch`];

/** The media types of a resource. */
export function mediaTypesOf(isBuiltIn: boolean): readonly string[] {
  return isBuiltIn ? BUILT_IN_TYPES : CUSTOM_TYPES;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The clauses of an Accept header, sorted by preference. */
export function parseAccept(header: string): readonly Clause[] {
  return header
    .split(",")
    .map((part) => {
      const [type = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const pairs = parameters.map((parameter): [string, string] => {
        const equals = parameter.indexOf("=");
        return equals < 0 ? [parameter, ""] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
      });
      const map = new Map(pairs);
      const quality = Number(map.get("q") ?? "1");
      return { type, parameters: map, quality: Number.isNaN(quality) ? 1 : quality };
    })
    .filter(({ type }) => type !== "")
    .sort((a, b) => b.quality - a.quality);
}

/**
 * Chooses the representation for an Accept header. A client that asks for protobuf gets JSON with a JSON content type:
 * every client decodes by the type of the response. `isWatchable` means that the path is a collection to read.
 */
export function negotiate(
  header: string | undefined,
  isBuiltIn: boolean,
  transforms: Transforms,
  isPretty: boolean,
  isWatchable = false,
): Representation {
  if (header === undefined || header === "" || header === "application/json")
    return isPretty ? { ...JSON_ANSWER, isPretty } : JSON_ANSWER;
  const supported = mediaTypesOf(isBuiltIn);
  let isTypeKnown = false;
  for (const { type, parameters } of parseAccept(header)) {
    const matched = supported.find((candidate) => matchesType(type, candidate));
    if (matched === undefined) continue;
    isTypeKnown = true;
    const stream = parameters.get("stream");
    if (stream && (stream !== "watch" || matched === "application/yaml")) continue;
    const mediaType = matched === "application/yaml" ? "application/yaml" : "application/json";
    if (!["as", "g", "v"].some((key) => parameters.has(key))) return { mediaType, isPretty };
    const as = transforms === "none" ? undefined : transformOf(parameters);
    if (as !== undefined && (transforms === "all" || as.kind !== "Table")) return { mediaType, as, isPretty };
  }
  // The real server lists protobuf here, although custom resources do not support it.
  if (isTypeKnown || !isBuiltIn) throw notAcceptable(isBuiltIn ? supported : BUILT_IN_TYPES);
  const available = isWatchable ? [...supported, ...STREAMED_TYPES] : supported;
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`;
  throw new StatusError(406, "NotAcceptable", message, {});
}

/** An error is never a Table. A client that accepts none of the supported types gets pretty JSON. */
export function negotiateError(header: string | undefined, isBuiltIn: boolean, isPretty: boolean): Representation {
  try {
    return negotiate(header?.replaceAll("application/*", "*/*"), isBuiltIn, "none", isPretty);
  } catch (error) {
    if (error instanceof StatusError) return { ...JSON_ANSWER, isPretty: true };
    throw error;
  }
}

/** Whether the client accepts protobuf. */
export function asksForProtobuf(header: string | undefined): boolean {
  return header !== undefined && parseAccept(header).some(({ type }) => type === PROTOBUF);
}

function matchesType(wanted: string, candidate: string): boolean {
  return wanted === candidate || wanted === "*/*";
}

function transformOf(parameters: ReadonlyMap<string, string>): Representation["as"] {
  const kind = parameters.get("as");
  const version = parameters.get("v") ?? "";
  if (parameters.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (kind !== "Table" && kind !== "PartialObjectMetadata" && kind !== "PartialObjectMetadataList") return undefined;
  return { kind, version };
}

/** Defaults to pretty output for browsers and command-line tools, because people read it. */
export function wantsPretty(pretty: string | null, userAgent: string | undefined): boolean {
  if (pretty !== null && pretty !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(pretty);
  return userAgent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
