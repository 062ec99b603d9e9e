import { readFileSync } from "node:fs";

/**
 * Reads a JSON file at first use. Write the URL as a literal with `import.meta.url`, because that tells the bundler
 * to include the file.
 */
export function jsonFile<Value>(url: URL): () => Value {
  let value: Value | undefined;
  return () => (value ??= JSON.parse(readFileSync(url, "utf8")) as Value);
}
