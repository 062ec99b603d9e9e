import { defineErrors, SetpointError } from "setpoint";

/** Every error code of the package `@setpoint/sqlite`. */
export const sqliteErrors = defineErrors({
  SQLITE_BUSY: {
    summary: "Another connection holds a lock on the file.",
    cure: "Stop the other process that has the file open, or give this one a file of its own.",
  },
  SQLITE_CANTOPEN: {
    summary: "The file could not be opened or made.",
    cure: "Check that its folder exists and that this user may read and write it.",
  },
  SQLITE_CONSTRAINT: {
    summary: "A constraint of the table refuses the row.",
    cure: "The message names the constraint; extendedCode tells which kind it is.",
  },
  SQLITE_CORRUPT: {
    summary: "The file is damaged.",
    cure: "Restore it from a copy, or remove it to start anew.",
  },
  SQLITE_ERROR: {
    summary: "SQLite refuses the statement.",
    cure: "The message names what is wrong with it.",
  },
  SQLITE_FULL: {
    summary: "The disk is full, or the file has reached its size limit.",
    cure: "Make room on the disk; what was not written was rolled back.",
  },
  SQLITE_IOERR: {
    summary: "Reading or writing the file failed.",
    cure: "Look at the disk: the system's log has more.",
  },
  SQLITE_MISUSE: {
    summary: "A value that SQLite cannot store was bound, or a closed database was used.",
    cure: "Bind strings, finite numbers, bigints, null and Uint8Arrays only.",
  },
  SQLITE_NOTADB: {
    summary: "The file is not a SQLite database.",
    cure: "Check the path; it names a file of another kind, or a damaged one.",
  },
  SQLITE_READONLY: {
    summary: "The file or its folder cannot be written to.",
    cure: "Give this user the permission to write, or open another file.",
  },
  SQLITE_UNAVAILABLE: {
    summary: "No SQLite driver can be loaded.",
    cure: "Use Node 22.13 or newer, or install the package libsql beside this one.",
  },
});

export type SqliteErrorCode = keyof typeof sqliteErrors;

/** SQLite's primary result codes that callers tell apart; the others are `SQLITE_ERROR`. */
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
  /** SQLite's extended result code, such as 2067 for a violated UNIQUE; undefined where the driver gave none. */
  readonly extendedCode: number | undefined;

  constructor(code: SqliteErrorCode, message: string, options?: ErrorOptions & { readonly extendedCode?: number }) {
    super(code, message, options);
    this.extendedCode = options?.extendedCode;
  }

  /** By SQLite's result code, primary or extended. */
  static of(extendedCode: number, message: string, cause: unknown): SqliteError {
    return new SqliteError(CODES[extendedCode & 0xff] ?? "SQLITE_ERROR", message, { cause, extendedCode });
  }
}
