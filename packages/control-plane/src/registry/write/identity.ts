import type { Random } from "setpoint";

/** No vowels and no digits that look like letters: generated names spell nothing. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_BASE = 63 - SUFFIX_LENGTH;

/** The prefix, cut to fit a DNS label, and five random characters. */
export function generatedName(prefix: string, random: Random): string {
  let suffix = "";
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  }
  return prefix.slice(0, LONGEST_BASE) + suffix;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A random UUID (version 4). */
export function newUid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  let uid = "";
  for (let at = 0; at < 16; at++) {
    if (at === 4 || at === 6 || at === 8 || at === 10) uid += "-";
    uid += HEX[bytes[at]!];
  }
  return uid;
}
