/**
 * A value for `-o json` or `-o yaml`; undefined for people. The YAML library is loaded on first use, because a starting
 * control plane does not need it.
 */
export async function printed(format: unknown, value: object): Promise<string | undefined> {
  if (format === undefined) return undefined;
  const { formatted, outputFormat } = await import("./objects/output.js");
  return formatted(value, outputFormat(format)!);
}
