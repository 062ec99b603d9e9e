import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/sqlite`. */
export const sqliteErrors = defineErrors({
  SQLITE_BUSY: {
    summary: "Another connection holds a lock on the file.",
    cure: "Stop the other process that has the file open, or give this one a file of its own.",
  },
  SQLITE_CANTOPEN: {
    summary: "SQLite could not open or create the file.",
    cure: "Check that its folder exists and that this user may read and write it.",
  },
  SQLITE_CONSTRAINT: {
    summary: "A constraint of the table refuses the row.",
    cure: "The message names the constraint, and extendedCode its type.",
  },
  SQLITE_CORRUPT: {
    summary: "The file is damaged.",
    cure: "Restore it from a backup, or remove it to start empty.",
  },
  SQLITE_ERROR: {
    summary: "SQLite refuses the statement.",
    cure: "Correct the error that the message names.",
  },
  SQLITE_FULL: {
    summary: "The disk is full, or the file has reached its size limit.",
    cure: "Free some space on the disk. SQLite has rolled back the transaction.",
  },
  SQLITE_IOERR: {
    summary: "Reading or writing the file failed.",
    cure: "Check the disk and the system's log.",
  },
  SQLITE_MISUSE: {
    summary: "The caller bound a value that SQLite cannot store, or used a closed database.",
    cure: "Bind only strings, finite numbers, bigints, null and Uint8Arrays.",
  },
  SQLITE_NOTADB: {
    summary: "The file is not a SQLite database.",
    cure: "Check the path: it names another type of file, or a damaged database.",
  },
  SQLITE_READONLY: {
    summary: "The file or its folder is read-only.",
    cure: "Grant this user write permission, or open another file.",
  },
  SQLITE_UNAVAILABLE: {
    summary: "No SQLite driver can be loaded.",
    cure: "Use Node 22.13 or newer, or install the package libsql.",
  },
});
