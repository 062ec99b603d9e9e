import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import { parseTarget } from "../api/request-target.js";
import type { AccessAttributes } from "../api/user.js";
import { loadFacts } from "../facts/facts.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { upperLayers } from "../write-parts.js";
import { Registry } from "./registry.js";
import type { AdmissionPlugin } from "./write/admission.js";
// Loaded with the file, so that its first test does not pay for it.
import "./write-side.js";

export interface TestAnswer {
  readonly status: number;
  readonly headers: ApiResponse["headers"];
  /** The parsed JSON, or the text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  readonly body: any;
}

export interface TestRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

export interface TestPlaneOptions {
  readonly admission?: (storage: MemoryStorage) => readonly AdmissionPlugin[];
  /** Whether threads parse large bodies. Defaults to true. */
  readonly hasBodyThreads?: boolean;
  /** The permissions of the caller; everything by default. */
  readonly allows?: (attributes: AccessAttributes) => boolean;
}

/**
 * A registry on memory storage and a virtual clock, called without a socket. Everybody may do everything by default.
 */
export class TestPlane implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly storage: MemoryStorage;
  readonly registry: Registry;
  /** The log of its loops. */
  readonly logged: readonly string[];

  private constructor(clock: VirtualClock, storage: MemoryStorage, registry: Registry, logged: readonly string[]) {
    this.clock = clock;
    this.storage = storage;
    this.registry = registry;
    this.logged = logged;
  }

  static async start(options: TestPlaneOptions = {}): Promise<TestPlane> {
    const clock = new VirtualClock();
    const storage = new MemoryStorage({ clock });
    const logged: string[] = [];
    const registry = new Registry({
      storage,
      clock,
      random: seededRandom(1),
      facts: await loadFacts(),
      log: (message, error) => void logged.push(`${message}: ${String(error)}`),
      ...(options.hasBodyThreads !== undefined && { hasBodyThreads: options.hasBodyThreads }),
      writeParts: () => ({ ...upperLayers, admission: options.admission?.(storage) ?? [] }),
      authenticate: async () => ({ name: "admin", groups: ["system:masters", "system:authenticated"] }),
      authorizer: {
        authorize: (attributes) => ({ allowed: options.allows?.(attributes) ?? true, reason: "" }),
      },
    });
    await registry.writeSide();
    return new TestPlane(clock, storage, registry, logged);
  }

  /** Sends a request; `target` is path and query. */
  async request(method: string, target: string, request: TestRequest = {}): Promise<TestAnswer> {
    const response = await this.open(method, target, request);
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const type = String(response.headers["content-type"] ?? "");
    const isJson = type.startsWith("application/json") && text !== "";
    return { status: response.status, headers: response.headers, body: isJson ? parsed(text) : text };
  }

  /** Sends a request and leaves the body unread. */
  open(method: string, target: string, request: TestRequest = {}): Promise<ApiResponse> {
    return this.registry.handler(requestOf(method, target, request));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.registry[Symbol.asyncDispose]();
    await this.storage[Symbol.asyncDispose]();
  }
}

/** A request in the form of handlers. */
export function requestOf(
  method: string,
  target: string,
  { body, headers, contentType, signal }: TestRequest,
): ApiRequest {
  const { pathname, search } = new URL(target, "http://plane");
  const bytes = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
  return {
    ...parseTarget(method, `${pathname}${search}`),
    headers: {
      "user-agent": "test",
      ...(bytes !== "" && { "content-type": contentType ?? "application/json" }),
      ...headers,
    },
    body: Buffer.from(bytes),
    isInProcess: true,
    signal: signal ?? new AbortController().signal,
  };
}

/** One document, or the lines of a watch. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  }
}
