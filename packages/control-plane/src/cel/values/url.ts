import { goQuote } from "../../api/go-format.js";
import { AddressError, parseAddress } from "./address.js";

/** A URL as Go's `net/url` parses it. */
export interface Url {
  readonly scheme: string;
  /** Includes the port. */
  readonly host: string;
  /** As written in a request. */
  readonly escapedPath: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** The whole URL, to compare. */
  readonly text: string;
}

/** Thrown for text that is not a URL. The message is Go's. */
export class UrlError extends Error {}

/** Parses a request URL: absolute, or a path from the root. */
export function parseUrl(text: string): Url {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof UrlError) && !(error instanceof AddressError)) throw error;
    const why = error instanceof AddressError ? `invalid host: ${error.message}` : error.message;
    throw new UrlError(`parse ${goQuote(text)}: ${why}`);
  }
}

function read(text: string): Url {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new UrlError("net/url: invalid control character in URL");
  if (text === "") throw new UrlError("empty url");
  // A request has no fragment.
  const hash = text.indexOf("#");
  const whole = hash < 0 ? text : text.slice(0, hash);
  if (hash >= 0) unescaped(text.slice(hash + 1), "path");
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(whole)?.[1] ?? "";
  const afterScheme = scheme === "" ? whole : whole.slice(scheme.length + 1);
  const question = afterScheme.indexOf("?");
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const query = parseQuery(question < 0 ? "" : afterScheme.slice(question + 1));
  const lower = scheme.toLowerCase();
  if (!rest.startsWith("/")) {
    if (scheme === "") {
      if (text === "*") return { scheme: "", host: "", escapedPath: "*", query, text };
      throw new UrlError("invalid URI for request");
    }
    return { scheme: lower, host: "", escapedPath: "", query, text };
  }
  if (!rest.startsWith("//")) return { scheme: lower, host: "", escapedPath: escapedPath(rest), query, text };
  // Without a scheme, Go first parses a request URL as a path.
  if (scheme === "") escapedPath(rest);
  const [, authority = "", path = ""] = /^\/\/([^/]*)(.*)$/s.exec(rest)!;
  return { scheme: lower, host: hostOf(authority, lower), escapedPath: escapedPath(path), query, text };
}

function hostOf(authority: string, scheme: string): string {
  const at = authority.lastIndexOf("@");
  const host = readHost(authority.slice(at + 1), scheme);
  if (at >= 0) {
    const user = authority.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
    unescaped(user, "path");
  }
  return host;
}

function readHost(host: string, scheme: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return bracketed(host);
  const first = host.indexOf(":");
  const isStrict = scheme === "http" || scheme === "https";
  const colon = isStrict ? first : host.lastIndexOf(":");
  if (colon >= 0) checkPort(host.slice(colon));
  return unescaped(host, "host");
}

function bracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  checkPort(port);
  const name = unescaped(host.slice(1, close), "host");
  if (parseAddress(name).address.length === 4) throw new UrlError("invalid IP-literal");
  return `[${name}]${port}`;
}

function checkPort(port: string): void {
  if (!/^(?::\d*)?$/.test(port)) throw new UrlError(`invalid port ${goQuote(port)} after host`);
}

/** The host without port and brackets. */
export function hostName({ host }: Url): string {
  const bracketedName = /^\[(.*)\](?::\d*)?$/s.exec(host)?.[1];
  if (bracketedName !== undefined) return bracketedName;
  const colon = host.indexOf(":");
  return colon >= 0 && /^:\d*$/.test(host.slice(host.lastIndexOf(":"))) ? host.slice(0, host.lastIndexOf(":")) : host;
}

export function port({ host }: Url): string {
  return /:(\d*)$/.exec(host.startsWith("[") ? host.slice(host.lastIndexOf("]") + 1) : host)?.[1] ?? "";
}

const HOST_CHARACTER = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;

function unescaped(text: string, part: "path" | "query" | "host"): string {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text);
  const escapes = bad === null ? text : text.slice(0, bad.index);
  if (part === "host") {
    const early = /%[0-7][0-9a-fA-F]/.exec(escapes);
    if (early !== null && early[0] !== "%25") throw new UrlError(`invalid URL escape ${goQuote(early[0])}`);
    for (const character of escapes.replace(/%[0-9a-fA-F]{2}/g, "")) {
      if (character < "\u0080" && !HOST_CHARACTER.test(character)) {
        throw new UrlError(`invalid character ${goQuote(character)} in host name`);
      }
    }
  }
  if (bad !== null) throw new UrlError(`invalid URL escape ${goQuote(bad[0])}`);
  const plus = part === "query" ? text.replaceAll("+", " ") : text;
  if (!plus.includes("%")) return plus;
  const bytes = plus.split(/(%[0-9a-fA-F]{2})/).map((piece, index) => {
    return index % 2 === 0 ? Buffer.from(piece) : Buffer.from(piece.slice(1), "hex");
  });
  return Buffer.concat(bytes).toString();
}

/** The path as written if it is valid, otherwise escaped. */
function escapedPath(path: string): string {
  const plain = unescaped(path, "path");
  if (/^[A-Za-z0-9\-._~!$&'()*+,;=:@[\]%/]*$/.test(path)) return path;
  return [...Buffer.from(plain)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9\-._~$&+,/:;=@]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

function parseQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const result = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    try {
      const key = unescaped(equals < 0 ? pair : pair.slice(0, equals), "query");
      const value = unescaped(equals < 0 ? "" : pair.slice(equals + 1), "query");
      result.set(key, [...(result.get(key) ?? []), value]);
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
    }
  }
  return result;
}
