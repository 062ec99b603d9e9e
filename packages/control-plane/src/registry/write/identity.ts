import type { Random } from "setpoint/clock";

/** No vowels and no digits that look like letters, so generated names spell no words. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_BASE = 63 - SUFFIX_LENGTH;

/** The prefix, cut to fit a DNS label, plus five random characters. */
export function generatedName(prefix: string, random: Random): string {
  let suffix = "";
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  }
  return prefix.slice(0, LONGEST_BASE) + suffix;
}

/** A random UUID (version 4). */
export function newUid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
