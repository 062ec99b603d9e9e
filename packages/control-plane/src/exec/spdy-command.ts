import type { Duplex } from "node:stream";
import type { Clock } from "setpoint/clock";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import { ByteQueue } from "./byte-queue.js";
import type { CommandStreams, WantedStreams } from "./command-channels.js";
import { SpdySession, type SpdyStream } from "./spdy/session.js";

const SPDY = "SPDY/3.1";
const PROTOCOL = "v4.channel.k8s.io";
const PROTOCOL_HEADER = "x-stream-protocol-version";
/** How long to wait for a client's streams. Clients open them at once. */
const STREAMS_WITHIN_MS = 30_000;
const MAX_CHUNK_BYTES = 2 ** 16;

export function isSpdyRequest({ upgrade }: ApiRequest): boolean {
  return upgrade?.toUpperCase() === SPDY;
}

/**
 * Runs a command over SPDY, for older kubectl versions and Go's `NewSPDYExecutor`. It has one stream each for
 * standard input, output and error, and one for the Status with the result.
 */
export function answerSpdyCommand(
  request: ApiRequest,
  wanted: WantedStreams & { readonly tty: boolean },
  clock: Clock,
  run: (streams: CommandStreams) => Promise<object>,
): ApiResponse {
  const offered = [request.headers[PROTOCOL_HEADER] ?? []].flat().flatMap((text) => text.split(/\s*,\s*/));
  if (!offered.includes(PROTOCOL)) {
    const why = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${PROTOCOL}]`;
    return { status: 403, headers: {}, body: Buffer.from(why) };
  }
  return {
    status: 101,
    headers: { upgrade: SPDY, connection: "Upgrade", [PROTOCOL_HEADER]: PROTOCOL },
    body: new Uint8Array(),
    takeOver: (connection) => serve(connection, wanted, clock, run),
  };
}

async function serve(
  connection: Duplex,
  wanted: WantedStreams & { readonly tty: boolean },
  clock: Clock,
  run: (streams: CommandStreams) => Promise<object>,
): Promise<void> {
  const session = new SpdySession(connection, clock);
  const { stdin, stdout, stderr, tty } = wanted;
  const needed = [
    "error",
    ...Object.entries({ stdin, stdout, stderr, resize: tty }).flatMap(([name, is]) => (is ? name : [])),
  ];
  const streams = new Map<string, SpdyStream>();
  const gone = new AbortController();
  const reading = new Promise<void>((resolve) => {
    const late = clock.timer(STREAMS_WITHIN_MS, () => connection.destroy()).unref();
    const onStream = (stream: SpdyStream): void => {
      streams.set(stream.headers.get("streamtype") ?? "", stream);
      if (!needed.every((name) => streams.has(name))) return;
      late[Symbol.dispose]();
      resolve();
    };
    void session.run(onStream).finally(() => {
      late[Symbol.dispose]();
      gone.abort(new Error("the caller has gone"));
      resolve();
    });
  });
  await reading;
  if (gone.signal.aborted) return;
  const status = await run({
    stdin: streams.get("stdin")?.incoming ?? noInput(),
    stdout: (data) => written(streams.get("stdout"), data),
    stderr: (data) => written(streams.get("stderr"), data),
    signal: gone.signal,
  });
  await written(streams.get("error"), JSON.stringify(status));
  for (const stream of streams.values()) stream.end();
  session.close();
}

function noInput(): ByteQueue {
  const queue = new ByteQueue();
  queue.end();
  return queue;
}

async function written(stream: SpdyStream | undefined, data: string | Uint8Array): Promise<void> {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.byteLength; at += MAX_CHUNK_BYTES) {
    await stream?.write(bytes.subarray(at, at + MAX_CHUNK_BYTES));
  }
}
