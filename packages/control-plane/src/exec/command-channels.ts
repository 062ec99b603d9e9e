import type { Duplex } from "node:stream";
import type { Clock } from "setpoint/clock";
import type { WebSocketOffer } from "../websocket/handshake.js";
import { WebSocketConnection, type WebSocketData } from "../websocket/websocket.js";
import { ByteQueue } from "./byte-queue.js";

/** The streams of a command. */
export interface CommandStreams {
  /** Ends when the client closes it or disconnects. */
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: (data: string | Uint8Array) => Promise<void>;
  readonly stderr: (data: string | Uint8Array) => Promise<void>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The streams that the client requested. Output to others is dropped. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** Kubernetes' channel numbers. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
/** In version 5, the next byte names a closed channel. */
const CLOSE = 255;

const BASE64 = "v4.base64.channel.k8s.io";
const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io", BASE64];

/**
 * Runs a command over a WebSocket, as `kubectl exec` expects. Each message starts with its channel number, and the
 * last one is a Status with the command's result.
 */
export function commandOffer(
  wanted: WantedStreams,
  clock: Clock,
  run: (streams: CommandStreams) => Promise<object>,
): WebSocketOffer {
  let isBase64 = false;
  return {
    choose: (offered) => {
      const protocol = offered.find((each) => PROTOCOLS.includes(each));
      isBase64 = protocol === BASE64;
      return protocol;
    },
    serve: (stream) => serve(stream, wanted, clock, isBase64, run),
  };
}

async function serve(
  stream: Duplex,
  wanted: WantedStreams,
  clock: Clock,
  isBase64: boolean,
  run: (streams: CommandStreams) => Promise<object>,
): Promise<void> {
  const connection = new WebSocketConnection(stream, { clock });
  const send = (channel: number, data: string | Uint8Array): Promise<void> =>
    connection.send(isBase64 ? base64Message(channel, data) : binaryMessage(channel, data));
  const gone = new AbortController();
  const stdin = new ByteQueue();
  const reading = readInto(stdin, connection, wanted.stdin, gone);
  // Tells the client that the command has started, before any output.
  await send(wanted.stdout ? STDOUT : wanted.stderr ? STDERR : ERROR, "");
  const status = await run({
    stdin,
    stdout: async (data) => void (wanted.stdout && (await send(STDOUT, data))),
    stderr: async (data) => void (wanted.stderr && (await send(STDERR, data))),
    signal: gone.signal,
  });
  stdin.end();
  await send(ERROR, JSON.stringify(status));
  connection.close();
  await reading;
}

/** Reads everything until the connection ends. Terminal resizes have no effect. */
async function readInto(
  stdin: ByteQueue,
  connection: WebSocketConnection,
  isWanted: boolean,
  gone: AbortController,
): Promise<void> {
  if (!isWanted) stdin.end();
  for await (const message of connection.messages()) {
    const { channel, bytes } = contentOf(message);
    if (channel === STDIN) {
      stdin.push(bytes);
      await stdin.room();
    } else if (channel === CLOSE && bytes[0] === STDIN) stdin.end();
  }
  stdin.end();
  gone.abort(new Error("the caller has gone"));
}

function binaryMessage(channel: number, data: string | Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(channel), typeof data === "string" ? Buffer.from(data) : data]);
}

function base64Message(channel: number, data: string | Uint8Array): string {
  return `${channel}${Buffer.from(data as Uint8Array).toString("base64")}`;
}

function contentOf(message: WebSocketData): { readonly channel: number | undefined; readonly bytes: Uint8Array } {
  if (message.type === "binary") return { channel: message.bytes[0], bytes: message.bytes.subarray(1) };
  return { channel: Number(message.text[0]), bytes: Buffer.from(message.text.slice(1), "base64") };
}
