import { Buffer } from "node:buffer";
import { nameOfRequest, type RequestSummary } from "../../client/request-summary.js";
import { startOf } from "../../client/transport/body.js";
import { SetpointError } from "../../errors/error.js";
import { scanList } from "../store/scan.js";

export interface ListPage {
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
  /** The items as ranges of `bytes`. */
  readonly bytes: Buffer;
  readonly items: readonly (readonly [start: number, end: number])[];
}

interface ListEnvelope {
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly unknown[];
}

/** Reads one response to a list request. Throws `RESPONSE_INVALID` if it is not a list. */
export function readListPage(request: RequestSummary, body: Buffer): ListPage {
  const ranges = scanList(body);
  const envelope = parse(request, ranges?.envelope ?? body.toString("utf8"), body);
  if (!envelope.kind?.endsWith("List") || !envelope.metadata) {
    throw invalid(request, `it is a ${envelope.kind ?? "object without a kind"}, not a list`, body);
  }
  const { resourceVersion = "", continue: continueToken = "" } = envelope.metadata;
  if (ranges) return { resourceVersion, continueToken, bytes: body, items: ranges.items };
  const texts = (envelope.items ?? []).map((item) => Buffer.from(JSON.stringify(item)));
  let offset = 0;
  const items = texts.map((text) => [offset, (offset += text.length)] as const);
  return { resourceVersion, continueToken, bytes: Buffer.concat(texts), items };
}

function parse(request: RequestSummary, text: string, body: Buffer): ListEnvelope {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch (cause) {
    throw invalid(request, "it is not JSON", body, cause);
  }
  throw invalid(request, "it is not an object", body);
}

function invalid(request: RequestSummary, problem: string, body: Buffer, cause?: unknown): SetpointError {
  const message = `${nameOfRequest(request)}: the answer is not a list (${problem}); it starts with: ${startOf(body)}`;
  return new SetpointError("RESPONSE_INVALID", message, cause ? { cause } : undefined);
}
