import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import { parseDuration } from "../../clock/duration.js";
import { systemClock } from "../../clock/system-clock.js";
import { SetpointError } from "../../errors/error.js";
import { isOlder } from "../reflector/revision.js";
import { type BodyStore, type BodyStoreOptions, DEFAULT_CLAIM_MS, type StoredBody } from "../store/body-store.js";
import { CommandSocket } from "./command-socket.js";

interface Reply {
  /** `HD`, `VA`, `EN`, `NS`, `EX`, `NF`, or an error message. */
  readonly status: string;
  readonly flags: readonly string[];
  readonly value?: Buffer;
}

const CRLF = "\r\n";
const LONGEST_KEY = 250;
/** After this many concurrent changes of its key, a put assumes a rival that ignores the claim. */
const PUT_TRIES = 5;

/** Bodies in Memcached, by its meta commands: compare-and-set prevents an older version from replacing a newer one. */
export class MemcachedBodies implements BodyStore {
  readonly #socket: CommandSocket<Reply>;
  readonly #options: BodyStoreOptions;
  readonly #claimSeconds: number;

  constructor(options: BodyStoreOptions, clock: Clock = systemClock) {
    const { host = "127.0.0.1", port = 11_211, timeout } = options;
    this.#options = options;
    this.#claimSeconds = Math.max(1, Math.ceil(parseDuration(options.claim ?? DEFAULT_CLAIM_MS, "claim") / 1000));
    this.#socket = new CommandSocket({ host, port, timeout }, clock, parseReply);
  }

  /** Takes or renews the claim on the prefix; rejects with `BODY_STORE_TAKEN` if another writer has it. */
  async claim(): Promise<void> {
    const { prefix, writer } = this.#options;
    const key = this.#key("writer", "");
    const added = await this.#set(key, Buffer.from(writer), "ME", `T${this.#claimSeconds}`);
    if (added.status === "HD") return;
    const holder = await this.#send(`mg ${key} v T${this.#claimSeconds}`);
    if (holder.value?.toString() === writer) return;
    throw new SetpointError("BODY_STORE_TAKEN", `the prefix "${prefix}" has another writer`);
  }

  async get(key: string): Promise<StoredBody | undefined> {
    return decode((await this.#send(`mg ${this.#key("body", key)} v`)).value);
  }

  async put(key: string, stored: StoredBody): Promise<boolean> {
    await this.claim();
    const name = this.#key("body", key);
    const value = Buffer.concat([Buffer.from(`${stored.resourceVersion}\n`), stored.body]);
    for (let tries = 0; tries < PUT_TRIES; tries++) {
      const known = await this.#send(`mg ${name} v c`);
      const before = decode(known.value);
      if (before && isOlder(stored.resourceVersion, before.resourceVersion)) return false;
      const condition = before ? known.flags.find((flag) => flag.startsWith("c"))!.replace("c", "C") : "ME";
      const { status } = await this.#set(name, value, condition);
      if (status === "HD") return true;
      if (status.startsWith("SERVER_ERROR object too large")) {
        // A body that does not fit must not leave an older version behind.
        await this.#send(`md ${name}`);
        return true;
      }
      if (status !== "EX" && status !== "NS" && status !== "NF") throw failed(status);
    }
    throw new SetpointError(
      "BODY_STORE_TAKEN",
      `the prefix "${this.#options.prefix}" has another writer: ${key} keeps changing`,
    );
  }

  async delete(key: string): Promise<void> {
    await this.claim();
    await this.#send(`md ${this.#key("body", key)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const key = this.#key("writer", "");
    const holder = await this.#send(`mg ${key} v`).catch(() => undefined);
    if (holder?.value?.toString() === this.#options.writer) await this.#send(`md ${key}`).catch(() => undefined);
    await this.#socket[Symbol.asyncDispose]();
  }

  /** Memcached keys are short and without spaces; a long one is replaced by its hash. */
  #key(role: string, key: string): string {
    const full = `${this.#options.prefix}:${role}:${key}`;
    if (full.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(full)) return full;
    // Loaded on first use: see the budget of `import "setpoint"`.
    const { createHash } = process.getBuiltinModule("node:crypto");
    return `setpoint:${createHash("sha256").update(full).digest("hex")}`;
  }

  #set(key: string, value: Buffer, ...flags: readonly string[]): Promise<Reply> {
    const head = Buffer.from(`ms ${key} ${value.length} ${flags.join(" ")}${CRLF}`);
    return this.#socket.send(Buffer.concat([head, value, Buffer.from(CRLF)]));
  }

  async #send(command: string): Promise<Reply> {
    const reply = await this.#socket.send(Buffer.from(command + CRLF));
    if (/^(ERROR|CLIENT_ERROR|SERVER_ERROR)/.test(reply.status)) throw failed(reply.status);
    return reply;
  }
}

function failed(status: string): SetpointError {
  return new SetpointError("BODY_STORE_FAILED", `Memcached: ${status}`);
}

function decode(value: Buffer | undefined): StoredBody | undefined {
  const end = value?.indexOf("\n") ?? -1;
  if (!value || end < 0) return undefined;
  return { resourceVersion: value.toString("latin1", 0, end), body: Buffer.from(value.subarray(end + 1)) };
}

/** One reply of the meta protocol. */
function parseReply(bytes: Buffer): { reply: Reply; length: number } | undefined {
  const end = bytes.indexOf(CRLF);
  if (end < 0) return undefined;
  const line = bytes.toString("latin1", 0, end);
  if (!line.startsWith("VA ")) {
    const isError = /^(ERROR|CLIENT_ERROR|SERVER_ERROR)/.test(line);
    const [status = "", ...flags] = isError ? [line] : line.split(" ");
    return { reply: { status, flags }, length: end + 2 };
  }
  const [, size, ...flags] = line.split(" ");
  const start = end + 2;
  const length = start + Number(size) + 2;
  if (bytes.length < length) return undefined;
  return { reply: { status: "VA", flags, value: bytes.subarray(start, length - 2) }, length };
}
