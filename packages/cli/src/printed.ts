/**
 * A value as `-o json` or `-o yaml` wants it; undefined where people read. YAML is loaded when it is asked for: a control
 * plane that starts has no use for it.
 */
export async function printed(format: unknown, value: object): Promise<string | undefined> {
  if (format === undefined) return undefined;
  const { formatted, outputFormat } = await import("./objects/output.js");
  return formatted(value, outputFormat(format)!);
}
