import { defineErrors } from "setpoint/errors";

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
