import { Buffer } from "node:buffer";
import { copyBytes } from "../../client/transport/copy-bytes.js";
import type { Incoming } from "../reflector/incoming.js";

/** A shorter run would save nothing. */
const SHORTEST_RUN = 5;
/** Four bytes are compared and copied at once, which takes half the time; runs are found by their first four. */
const WORD_BYTES = 4;
/** Positions are 16-bit numbers. */
const MAX_BYTES = 64 * 1024 - 1;
/** At most this much is learnt from one body. */
const MAX_LEARNT_BYTES = 8 * 1024;
const HASH_BITS = 13;
const PRIME = 0x9e3779b1;
/** After this many bytes without a run (as a power of two) the search takes longer steps: some bodies have no runs. */
const PATIENCE_BITS = 6;
/** Memory up to this size is kept for the next body. */
const KEPT_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/**
 * What the bodies of one kind have in common, and the code that refers to it. Objects of a kind share field names and
 * most values: the code of a one-kilobyte body takes a fifth of that. Each body is coded separately, so that any one
 * can be read in about a microsecond without its neighbours.
 *
 * The code repeats: the number of literal bytes, these bytes, and a run of learnt bytes, given by its length beyond the
 * shortest and its start, relative to the end of the previous run. It ends when the body has its length. Numbers use
 * seven bits per byte. Learnt bytes never change, so that earlier codes stay readable.
 */
export class Dictionary {
  #learnt: Buffer = NO_BYTES;
  #learntWords = wordsOf(NO_BYTES);
  /** By the hash of a word: its first position; 0 if it has none. Undefined before anything is learnt. */
  #places: Uint16Array | undefined;
  #body: Buffer = NO_BYTES;
  #bodyWords = wordsOf(NO_BYTES);
  /** The result of the last {@link encode}, from the start. */
  coded: Buffer = NO_BYTES;
  #codedLength = 0;
  /** The longest stretch of literal bytes in it: where the body differs most from what is known. */
  #longestOwn = 0;
  #longestOwnAt = 0;
  /** The end of the last number that was read. */
  #readTo = 0;

  /** Bytes kept. */
  get bytes(): number {
    return this.#learnt.length + (this.#places?.byteLength ?? 0) + this.#body.length + this.coded.length;
  }

  /** Codes the body into `coded` and returns the length. Learns the body, if allowed, when it differs from everything known. */
  encode(incoming: Pick<Incoming, "bodyLength" | "copyBody">, mayLearn: boolean): number {
    const { bodyLength } = incoming;
    const body = this.#bodyOf(bodyLength);
    incoming.copyBody(body, 0);
    // A run may cost one byte more than it has, but only after a long stretch of literal bytes.
    this.coded = roomIn(this.coded, bodyLength + (bodyLength >> PATIENCE_BITS) + 16);
    this.#codedLength = this.#longestOwn = this.#longestOwnAt = 0;
    const rest = this.#places ? this.#codeRuns(this.#places, body, bodyLength) : 0;
    if (rest < bodyLength) this.#codeOwn(body, rest, bodyLength);
    if (mayLearn && this.#codedLength > bodyLength / 2) this.#learn(body, bodyLength);
    return this.#codedLength;
  }

  /** Decodes the body of this length whose code begins at `start`; the result is valid until the next call. */
  decode(code: Buffer, start: number, length: number): Buffer {
    const body = this.#bodyOf(length);
    this.#readTo = start;
    let place = 0;
    for (let to = 0; to < length; ) {
      const own = this.#read(code);
      copyBytes(code, this.#readTo, this.#readTo + own, body, to);
      this.#readTo += own;
      to += own;
      if (to === length) break;
      const run = this.#read(code) + SHORTEST_RUN;
      const distance = this.#read(code);
      place += (distance >>> 1) ^ -(distance & 1);
      this.#copyRun(place, to, to + run);
      place += run;
      to += run;
    }
    return body;
  }

  /** Copies to `#body[start, end)`. */
  #copyRun(place: number, start: number, end: number): void {
    const shift = place - start;
    let to = start;
    for (; to + WORD_BYTES <= end; to += WORD_BYTES) {
      this.#bodyWords.setInt32(to, this.#learntWords.getInt32(to + shift, true), true);
    }
    for (; to < end; to++) this.#body[to] = this.#learnt[to + shift]!;
  }

  /** Codes everything up to the end of the last run; returns that position. */
  #codeRuns(places: Uint16Array, body: Buffer, length: number): number {
    const learnt = this.#learnt;
    const learntWords = this.#learntWords;
    const words = this.#bodyWords;
    // The end of the last run, in the body and in the learnt bytes.
    let coded = 0;
    let expected = 0;
    for (let at = 0; at + WORD_BYTES <= length; at += 1 + ((at + 1 - coded) >> PATIENCE_BITS)) {
      const word = words.getInt32(at, true);
      let place = places[hashOf(word)]!;
      if (place === 0 || learntWords.getInt32(place, true) !== word) continue;
      const shift = place - at;
      const furthest = Math.min(length, learnt.length - shift);
      let end = at + WORD_BYTES;
      const furthestWord = furthest - WORD_BYTES;
      while (end <= furthestWord && words.getInt32(end, true) === learntWords.getInt32(end + shift, true)) {
        end += WORD_BYTES;
      }
      while (end < furthest && body[end] === learnt[end + shift]) end++;
      let start = at;
      for (; start > coded && place > 0 && body[start - 1] === learnt[place - 1]; place--) start--;
      if (end - start < SHORTEST_RUN) continue;
      this.#codeOwn(body, coded, start);
      this.#write(end - start - SHORTEST_RUN);
      const distance = place - expected;
      this.#write((distance << 1) ^ (distance >> 31));
      expected = end + shift;
      coded = end;
      at = end - 1;
    }
    return coded;
  }

  #codeOwn(body: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#write(length);
    copyBytes(body, start, end, this.coded, this.#codedLength);
    this.#codedLength += length;
    if (length <= this.#longestOwn) return;
    this.#longestOwn = length;
    this.#longestOwnAt = start;
  }

  /** Learns the body from where it differs most from what is known. */
  #learn(body: Buffer, length: number): void {
    const known = this.#learnt.length;
    const start = this.#longestOwnAt;
    const size = Math.min(length - start, MAX_LEARNT_BYTES, MAX_BYTES - known);
    if (size < SHORTEST_RUN) return;
    this.#learnt = Buffer.concat([this.#learnt, body.subarray(start, start + size)]);
    this.#learntWords = wordsOf(this.#learnt);
    this.#places ??= new Uint16Array(1 << HASH_BITS);
    for (let place = Math.max(known, 1); place + WORD_BYTES <= known + size; place++) {
      const hash = hashOf(this.#learntWords.getInt32(place, true));
      if (this.#places[hash] === 0) this.#places[hash] = place;
    }
  }

  #write(number: number): void {
    let rest = number;
    for (; rest > 0x7f; rest >>>= 7) this.coded[this.#codedLength++] = (rest & 0x7f) | 0x80;
    this.coded[this.#codedLength++] = rest;
  }

  #read(code: Buffer): number {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = code[this.#readTo++]!;
      number |= (byte & 0x7f) << shift;
      if (byte <= 0x7f) return number;
    }
  }

  #bodyOf(length: number): Buffer {
    const memory = roomIn(this.#body, length);
    if (memory !== this.#body) {
      this.#body = memory;
      this.#bodyWords = wordsOf(memory);
    }
    return memory;
  }
}

/** The same memory if it is large enough and not larger than what may be kept; otherwise new memory. */
function roomIn(memory: Buffer, length: number): Buffer {
  if (length <= memory.length && memory.length <= KEPT_BYTES) return memory;
  return Buffer.allocUnsafeSlow(Math.max(length, Math.min(KEPT_BYTES, 2 * length)));
}

function wordsOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function hashOf(word: number): number {
  return Math.imul(word, PRIME) >>> (32 - HASH_BITS);
}
