import type { StatementPosition } from "../../errors.js";
import type { WireError } from "./protocol.js";

/** A failure that the child process reports to its parent. */
export class EngineFailure extends Error {
  readonly wire: WireError;

  constructor(wire: WireError) {
    super(wire.message);
    this.wire = wire;
  }
}

/** An error of DuckDB with the setting `errors_as_json`. */
interface DuckDbError {
  readonly exception_type?: string;
  readonly exception_message?: string;
  readonly position?: string;
}

/** The text that a statement was made from, and how many characters precede it in the statement. */
export interface StatementOrigin {
  readonly part: string;
  readonly prefix?: number;
}

export function duckDbError(thrown: unknown): DuckDbError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const start = message.indexOf("{");
  if (start >= 0) {
    try {
      return JSON.parse(message.slice(start)) as DuckDbError;
    } catch {
      // Not JSON: use the message as it is.
    }
  }
  return { exception_message: message };
}

/** Converts an error of DuckDB to a failure with the position in the caller's text. */
export function failureOf(thrown: unknown, statement: string, origin: StatementOrigin): EngineFailure {
  if (thrown instanceof EngineFailure) return thrown;
  const { exception_type: type = "", exception_message: text = "", position } = duckDbError(thrown);
  if (type === "INTERRUPT") return new EngineFailure({ code: "aborted", message: "interrupted" });
  const isFatal = type === "FATAL" || type === "INTERNAL" || /database has been invalidated/i.test(text);
  const isFull = /no space left on device|ENOSPC|database size limit/i.test(text);
  const message = `${type === "" ? "" : `${type} error: `}${text}${isFull ? " (the disk is full: nothing was changed)" : ""}`;
  const at = position === undefined ? undefined : positionOf(statement, Number(position), origin);
  return new EngineFailure({
    code: "PIPELINES_ENGINE_FAILED",
    message,
    position: at ?? { part: origin.part },
    ...(isFatal ? { isFatal } : {}),
  });
}

/** DuckDB's position counts bytes of the whole statement; the result counts characters of the caller's text. */
function positionOf(statement: string, bytes: number, { part, prefix = 0 }: StatementOrigin): StatementPosition {
  const offset = Buffer.from(statement).subarray(0, bytes).toString().length - prefix;
  return offset >= 0 ? { part, offset } : { part };
}
