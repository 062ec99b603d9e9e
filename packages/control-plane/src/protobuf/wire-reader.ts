/** Malformed protobuf, worded like Go's decoder. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

export type WireType = 0 | 1 | 2 | 5;

const END_GROUP = 4;

/** Reads protobuf's wire format. Never reads beyond its bytes and always terminates: each call advances or throws. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Number and wire type of the field that `next` reached. */
  number = 0;
  wireType = 0;
  /** The last varint, as two 32-bit halves: bigints are slow and trigger a compiler bug in Node 20. */
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Advances to the next field of `message` and sets `number` and `wireType`. Returns false at the end. */
  next(message: () => string): boolean {
    if (this.#at >= this.#bytes.length) return false;
    this.#varint();
    this.number = (this.#high << 29) | (this.#low >>> 3);
    this.wireType = this.#low & 7;
    if (this.wireType === END_GROUP) throw new ProtobufError(`proto: ${message()}: wiretype end group for non-group`);
    if (this.number <= 0) {
      throw new ProtobufError(`proto: ${message()}: illegal tag ${this.number} (wire type ${this.wireType})`);
    }
    return true;
  }

  bool(): boolean {
    this.#varint();
    return (this.#low | this.#high) !== 0;
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** Exact up to 2^53, like any JSON number in JavaScript. */
  int64(): number {
    this.#varint();
    return (this.#high | 0) * 2 ** 32 + (this.#low >>> 0);
  }

  /** Reads a length-prefixed byte string, as a view. */
  bytes(): Buffer {
    const start = this.#length();
    return this.#bytes.subarray(start, this.#at);
  }

  /** Reads a length-prefixed text. Invalid UTF-8 becomes replacement characters. */
  string(): string {
    const start = this.#length();
    return this.#bytes.toString("utf8", start, this.#at);
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#advance(8));
  }

  /** Skips an unknown field. Groups, which no client sends, may nest; they are counted without recursion. */
  skip(wireType: number): void {
    let depth = 0;
    let current = wireType;
    for (;;) {
      if (current === 0) this.#varint();
      else if (current === 1) this.#advance(8);
      else if (current === 2) this.bytes();
      else if (current === 3) depth++;
      else if (current === 4) {
        if (depth === 0) throw new ProtobufError("proto: unexpected end of group");
        depth--;
      } else if (current === 5) this.#advance(4);
      else throw new ProtobufError(`proto: illegal wireType ${current}`);
      if (depth === 0) return;
      this.#varint();
      current = this.#low & 7;
    }
  }

  /** Skips a length-prefixed byte string and returns its start. */
  #length(): number {
    const length = this.int64();
    if (length < 0) throw new ProtobufError("proto: negative length found during unmarshaling");
    const start = this.#at;
    if (start + length > this.#bytes.length) throw unexpectedEnd();
    this.#at = start + length;
    return start;
  }

  #varint(): void {
    const first = this.#bytes[this.#at];
    // Fast path: nearly all varints are tags, lengths and booleans of one byte.
    if (first !== undefined && first < 0x80) {
      this.#at++;
      this.#low = first;
      this.#high = 0;
      return;
    }
    this.#low = 0;
    this.#high = 0;
    for (let shift = 0; ; shift += 7) {
      if (shift >= 64) throw new ProtobufError("proto: integer overflow");
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw unexpectedEnd();
      this.#at++;
      const bits = byte & 0x7f;
      if (shift < 32) this.#low |= bits << shift;
      if (shift === 28) this.#high = bits >>> 4;
      else if (shift > 28) this.#high |= bits << (shift - 32);
      if (byte < 0x80) return;
    }
  }

  #advance(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) throw unexpectedEnd();
    this.#at = at + count;
    return at;
  }
}

function unexpectedEnd(): ProtobufError {
  return new ProtobufError("unexpected EOF");
}
