import type { JsonValue } from "setpoint";

const SAFE_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";

/**
 * The hash of a pod template, usable as a label value: FNV-1a over its canonical JSON and, after a collision, the
 * collision count. Its characters spell no words. kube-controller-manager hashes a dump of Go structs, so its hashes
 * look alike but differ.
 */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  let hash = fnv1a(Buffer.from(canonicalJson(template as JsonValue)));
  if (collisionCount !== undefined) {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32LE(collisionCount);
    hash = fnv1a(bytes, hash);
  }
  return safelyEncoded(String(hash));
}

/** Go's 32-bit FNV-1a. */
export function fnv1a(bytes: Uint8Array, from = 0x811c9dc5): number {
  let hash = from;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash >>> 0;
}

/** Go's 32-bit FNV-1. */
export function fnv1(bytes: Uint8Array, from = 0x811c9dc5): number {
  let hash = from;
  for (const byte of bytes) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return hash >>> 0;
}

/** Maps each character to one of those used in generated names. */
export function safelyEncoded(text: string): string {
  return [...text].map((character) => SAFE_CHARACTERS[character.codePointAt(0)! % SAFE_CHARACTERS.length]).join("");
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field as JsonValue)}`).join(",")}}`;
}
