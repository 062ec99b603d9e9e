import { BOOL, listOf, mapOf, STRING, struct, type Type } from "../types/type.js";
import { EntryMap, ListValue } from "../values/collection.js";
import { hostName, parseUrl, port, type Url, UrlError } from "../values/url.js";
import { type CelValue, Failure, OpaqueValue } from "../values/value.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";
import { NOMINAL, readingText } from "./text-cost.js";

const URL = struct("kubernetes.URL");

class UrlValue extends OpaqueValue {
  readonly type = URL;
  readonly url: Url;

  constructor(url: Url) {
    super();
    this.url = url;
  }

  equals(other: OpaqueValue): boolean {
    return this.url.text === (other as UrlValue).url.text;
  }
}

export const urls: readonly FunctionDeclaration[] = [
  declare("url", [overload("string_to_url", [STRING], URL, (text) => urlOf(text as string))], {
    cost: readingText(1, true),
  }),
  declare("isURL", [overload("is_url_string", [STRING], BOOL, (text) => !(urlOf(text as string) instanceof Failure))]),
  accessor("getScheme", "url_get_scheme", STRING, ({ scheme }) => scheme),
  accessor("getHost", "url_get_host", STRING, ({ host }) => host),
  accessor("getHostname", "url_get_hostname", STRING, hostName),
  accessor("getPort", "url_get_port", STRING, port),
  accessor("getEscapedPath", "url_get_escaped_path", STRING, ({ escapedPath }) => escapedPath),
  accessor("getQuery", "url_get_query", mapOf(STRING, listOf(STRING)), ({ query }) =>
    EntryMap.of([...query].map(([key, values]) => [key, new ListValue(values)])),
  ),
];

function accessor(name: string, id: string, result: Type, read: (url: Url) => CelValue): FunctionDeclaration {
  return declare(name, [method(id, [URL], result, (value) => read((value as UrlValue).url))], { cost: NOMINAL });
}

function urlOf(text: string): UrlValue | Failure {
  try {
    return new UrlValue(parseUrl(text));
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return new Failure(`URL parse error during conversion from string: ${error.message}`);
  }
}
