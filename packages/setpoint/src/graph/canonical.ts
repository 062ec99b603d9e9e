/** The canonical text of a JSON value: fields sorted, undefined ones omitted. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
        : inner,
    ) ?? "undefined"
  );
}

/** Equal for equal JSON, and practically never for different JSON. */
export function contentHash(value: unknown): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 22);
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
