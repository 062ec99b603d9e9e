import type { Clock } from "setpoint/clock";
import type { ApiRequest, ApiResponse } from "../../api/api-request.js";
import { answerWebSocket, NO_PROTOCOL } from "../../websocket/handshake.js";
import { WebSocketConnection } from "../../websocket/websocket.js";
import type { WatchStream } from "./watch-stream.js";

const NEWLINE = 0x0a;

/** A watch over a WebSocket: each event is its own text message. Messages of the caller are ignored. */
export function answerWebSocketWatch(request: ApiRequest, events: WatchStream, clock: Clock): ApiResponse {
  const answer = answerWebSocket(request, {
    needsOrigin: true,
    // Accept a single offered protocol, whatever it is: nothing is defined beyond the frames. Choose none from several.
    choose: (offered) => (offered.length > 1 ? undefined : (offered[0] ?? NO_PROTOCOL)),
    serve: async (stream) => {
      const connection = new WebSocketConnection(stream, { clock });
      const gone = endWhenClosed(connection, events);
      for await (const bytes of events) {
        for (const event of lines(bytes)) await connection.send(event);
      }
      connection.close();
      await gone;
    },
  });
  if (answer.takeOver === undefined) events.end();
  return answer;
}

async function endWhenClosed(connection: WebSocketConnection, events: WatchStream): Promise<void> {
  for await (const _ of connection.messages());
  events.end();
}

/** Each line keeps its newline, as the real server sends it. */
function* lines(bytes: Uint8Array): Generator<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(NEWLINE, start) + 1 || text.length;
    yield text.toString("utf8", start, end);
    start = end;
  }
}
