import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import { parseDuration } from "../../clock/duration.js";
import { systemClock } from "../../clock/system-clock.js";
import { SetpointError } from "../../errors/error.js";
import { type BodyStore, type BodyStoreOptions, DEFAULT_CLAIM_MS, type StoredBody } from "../store/body-store.js";
import { CommandSocket } from "./command-socket.js";

type Reply = Buffer | number | null | readonly Reply[] | { readonly error: string };

const CRLF = "\r\n";

/** Takes or renews the claim; 0 if another writer has it. */
const CLAIM = `local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Decimal numbers of any length: the longer one is larger. */
const PUT = `local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
local known = redis.call('HGET', KEYS[1], 'v')
if known and (#known > #ARGV[3] or (#known == #ARGV[3] and known > ARGV[3])) then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 'b', ARGV[4])
return 1`;

const DELETE = `local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[1])
return 1`;

/** Releases the claim if it is ours. */
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** Bodies in Redis: one hash per object, written by scripts, so that claim, version and body change together. */
export class RedisBodies implements BodyStore {
  readonly #socket: CommandSocket<Reply>;
  readonly #options: BodyStoreOptions;
  readonly #claimMs: string;

  constructor(options: BodyStoreOptions, clock: Clock = systemClock) {
    const { host = "127.0.0.1", port = 6379, timeout } = options;
    this.#options = options;
    this.#claimMs = String(parseDuration(options.claim ?? DEFAULT_CLAIM_MS, "claim"));
    this.#socket = new CommandSocket({ host, port, timeout }, clock, parseReply);
  }

  /** Claims the prefix; rejects with `BODY_STORE_TAKEN` if another writer has it. */
  async claim(): Promise<void> {
    const { writer } = this.#options;
    this.#check(await this.#command("EVAL", CLAIM, "1", this.#claimKey, writer, this.#claimMs), 0);
  }

  async get(key: string): Promise<StoredBody | undefined> {
    const reply = await this.#command("HMGET", this.#key(key), "v", "b");
    const [version, body] = Array.isArray(reply) ? reply : [];
    if (!Buffer.isBuffer(version) || !Buffer.isBuffer(body)) return undefined;
    return { resourceVersion: version.toString(), body: Buffer.from(body) };
  }

  async put(key: string, { resourceVersion, body }: StoredBody): Promise<boolean> {
    const keys = [this.#key(key), this.#claimKey];
    const { writer } = this.#options;
    const reply = await this.#command("EVAL", PUT, "2", ...keys, writer, this.#claimMs, resourceVersion, body);
    this.#check(reply, -1);
    return reply === 1;
  }

  async delete(key: string): Promise<void> {
    const { writer } = this.#options;
    this.#check(await this.#command("EVAL", DELETE, "2", this.#key(key), this.#claimKey, writer, this.#claimMs), -1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#command("EVAL", RELEASE, "1", this.#claimKey, this.#options.writer).catch(() => undefined);
    await this.#socket[Symbol.asyncDispose]();
  }

  get #claimKey(): string {
    return `${this.#options.prefix}:writer`;
  }

  #key(key: string): string {
    return `${this.#options.prefix}:body:${key}`;
  }

  #check(reply: Reply, taken: number): void {
    if (reply !== taken) return;
    throw new SetpointError("BODY_STORE_TAKEN", `the prefix "${this.#options.prefix}" has another writer`);
  }

  async #command(...parts: readonly (string | Buffer)[]): Promise<Reply> {
    const pieces: Buffer[] = [Buffer.from(`*${parts.length}${CRLF}`)];
    for (const part of parts) {
      const bytes = typeof part === "string" ? Buffer.from(part) : part;
      pieces.push(Buffer.from(`$${bytes.length}${CRLF}`), bytes, Buffer.from(CRLF));
    }
    const reply = await this.#socket.send(Buffer.concat(pieces));
    if (typeof reply === "object" && reply !== null && "error" in reply) {
      throw new SetpointError("BODY_STORE_FAILED", `Redis: ${reply.error}`);
    }
    return reply;
  }
}

/** One reply of RESP, version 2. */
function parseReply(bytes: Buffer): { reply: Reply; length: number } | undefined {
  const end = bytes.indexOf(CRLF);
  if (end < 0) return undefined;
  const text = bytes.toString("utf8", 1, end);
  const length = end + 2;
  switch (String.fromCharCode(bytes[0]!)) {
    case "+":
      return { reply: Buffer.from(text), length };
    case "-":
      return { reply: { error: text }, length };
    case ":":
      return { reply: Number(text), length };
    case "$": {
      const size = Number(text);
      if (size < 0) return { reply: null, length };
      if (bytes.length < length + size + 2) return undefined;
      return { reply: bytes.subarray(length, length + size), length: length + size + 2 };
    }
    case "*": {
      const items: Reply[] = [];
      let at = length;
      for (let count = Number(text); count > 0; count--) {
        const item = parseReply(bytes.subarray(at));
        if (!item) return undefined;
        items.push(item.reply);
        at += item.length;
      }
      return { reply: items, length: at };
    }
    default:
      throw new SetpointError("BODY_STORE_FAILED", "the server does not speak the Redis protocol");
  }
}
