import { SetpointError } from "setpoint";
import type { sqliteErrors } from "./errors.js";

export type SqliteErrorCode = keyof typeof sqliteErrors;

/** SQLite's primary result codes that callers distinguish. All others are `SQLITE_ERROR`. */
const CODES: Readonly<Record<number, SqliteErrorCode>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  21: "SQLITE_MISUSE",
  26: "SQLITE_NOTADB",
};

export class SqliteError extends SetpointError<SqliteErrorCode> {
  override readonly name = "SqliteError";
  /** SQLite's extended result code, such as 2067 for a violated UNIQUE; undefined if the driver gave none. */
  readonly extendedCode: number | undefined;

  constructor(code: SqliteErrorCode, message: string, options?: ErrorOptions & { readonly extendedCode?: number }) {
    super(code, message, options);
    this.extendedCode = options?.extendedCode;
  }

  /** From SQLite's primary or extended result code. */
  static of(extendedCode: number, message: string, cause: unknown): SqliteError {
    return new SqliteError(CODES[extendedCode & 0xff] ?? "SQLITE_ERROR", message, { cause, extendedCode });
  }
}
