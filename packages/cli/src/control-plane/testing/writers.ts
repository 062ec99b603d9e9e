import { createHash } from "node:crypto";
import { type Client, isSetpointError, type NewObject, type ObjectOf } from "setpoint";
import type { Random } from "setpoint/clock";
import { ConfigMap } from "setpoint/kinds/v1";

type Stored = ObjectOf<typeof ConfigMap>;

/** What a client knows of one object of its own. */
export interface Knowledge {
  /** The last write that was acknowledged: its content, or undefined where that was a delete. */
  content: string | undefined;
  revision: number;
  /** A write whose answer never came; it may have taken effect or not. `undefined` content for a delete. */
  unanswered?: { readonly content: string | undefined };
}

const NAMESPACE = "default";

/** Objects whose halves would show: the content and its hash. */
export function objectOf(name: string, content: string): NewObject<Stored> {
  return {
    metadata: { name, namespace: NAMESPACE, labels: { writer: "yes" } },
    data: { content, hash: hashOf(content) },
  };
}

/** The content of an object; throws where it is not whole. */
export function contentOf(object: Stored): string {
  const { content = "", hash } = object.data ?? {};
  if (hash !== hashOf(content)) throw new Error(`${object.metadata.name} is half written`);
  return content;
}

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Many clients that create, update and delete objects of their own until the server dies under them, and remember what
 * was acknowledged.
 */
export class Writers {
  readonly known = new Map<string, Knowledge>();
  acknowledged = 0;
  readonly #random: Random;
  #isOver = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Resolves when every client has lost its server. */
  async run(client: Client, count: number, prefix: string, contentBytes: number): Promise<void> {
    const write = async (writer: number): Promise<void> => {
      for (let step = 0; !this.#isOver; step++) {
        const name = `${prefix}-${writer}-${Math.floor(this.#random.next() * 3)}`;
        const content = `${step} ${"x".repeat(Math.floor(this.#random.next() * contentBytes))}`;
        if (!(await this.#write(client, name, content))) return;
      }
    };
    await Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Whether the write was answered. */
  async #write(client: Client, name: string, content: string): Promise<boolean> {
    const before = this.known.get(name);
    const isDelete = before?.content !== undefined && this.#random.next() < 0.2;
    const wanted = isDelete ? undefined : content;
    this.known.set(name, {
      content: before?.content,
      revision: before?.revision ?? 0,
      unanswered: { content: wanted },
    });
    try {
      const revision = await perform(client, name, wanted, before);
      this.known.set(name, { content: wanted, revision });
      this.acknowledged++;
      return true;
    } catch (error) {
      if (isSetpointError(error) && error.code.startsWith("TRANSPORT_")) return false;
      throw error;
    }
  }
}

async function perform(client: Client, name: string, content: string | undefined, before?: Knowledge): Promise<number> {
  if (content === undefined) {
    await client.delete(ConfigMap, name, { namespace: NAMESPACE });
    return before!.revision;
  }
  const object = objectOf(name, content);
  if (before?.content === undefined) return revisionOf(await client.create(ConfigMap, object));
  const metadata = { ...object.metadata, resourceVersion: String(before.revision) };
  return revisionOf(await client.update(ConfigMap, { ...object, metadata } as unknown as Stored));
}

function revisionOf(object: Stored): number {
  return Number(object.metadata.resourceVersion);
}
