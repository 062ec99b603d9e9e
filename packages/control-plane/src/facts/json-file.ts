import { readFileSync } from "node:fs";

/**
 * The value of a JSON file, read when first asked for. The address is to be written as a literal beside
 * `import.meta.url`: by that the bundler knows that the file goes along.
 */
export function jsonFile<Value>(url: URL): () => Value {
  let value: Value | undefined;
  return () => (value ??= JSON.parse(readFileSync(url, "utf8")) as Value);
}
