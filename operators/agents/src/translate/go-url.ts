/** A URL as Go's net/url parses it, with the parts that translation needs. The scheme is optional. */
export interface GoUrl {
  readonly scheme: string;
  /** With its port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  /** Decoded. */
  readonly path: string;
  /** Path, query and fragment as they were written. */
  readonly rest: string;
}

const PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:[^/?#]*@)?([^/?#]*))?([^?#]*)((?:\?[^#]*)?(?:#.*)?)$/s;

export function parseGoUrl(text: string): GoUrl | undefined {
  const match = PARTS.exec(text);
  if (!match || /[\s\p{Cc}]/u.test(match[2] ?? "")) return undefined;
  const [, scheme = "", host = "", path = "", tail = ""] = match;
  // Without a scheme, Go rejects a path whose first segment contains a colon.
  if (scheme === "" && match[2] === undefined && /^[^/]*:/.test(path)) return undefined;
  if (/:[^:]*[^:\d][^:]*$/.test(host.replace(/^\[.*\]/, ""))) return undefined;
  const port = /:(\d*)$/.exec(host)?.[1] ?? "";
  const hostname = host.replace(/:\d*$/, "").replace(/^\[|\]$/g, "");
  try {
    return { scheme: scheme.toLowerCase(), host, hostname, port, path: decodeURIComponent(path), rest: path + tail };
  } catch {
    return undefined;
  }
}

/** The last part of a path, as Go's path.Base gives it. */
export function baseName(path: string): string {
  if (path === "") return ".";
  return path.replace(/\/+$/, "").split("/").pop() || "/";
}
