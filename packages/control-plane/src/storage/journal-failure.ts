import { SqliteError } from "@setpoint/sqlite";
import { StorageFailure } from "./storage-error.js";

/** Turns an error from opening the journal file into one that says what to do. */
export function failureToOpen(path: string, error: unknown): unknown {
  if (!(error instanceof SqliteError)) return error;
  const options = { cause: error };
  switch (error.code) {
    case "SQLITE_BUSY":
      return new StorageFailure(
        "STORAGE_LOCKED",
        `${path} is in use by another process; stop it or choose another folder`,
        options,
      );
    case "SQLITE_CORRUPT":
    case "SQLITE_NOTADB":
      return damaged(path, error.message, options);
    case "SQLITE_CANTOPEN":
    case "SQLITE_READONLY":
    case "SQLITE_IOERR":
      return new StorageFailure(
        "STORAGE_UNREADABLE",
        `${path} cannot be read and written by this user: ${error.message}`,
        options,
      );
    case "SQLITE_FULL":
      return diskFull(path, error);
    default:
      return error;
  }
}

export function damaged(path: string, detail: string, options?: ErrorOptions): StorageFailure {
  const cure = "restore the folder from a backup, or remove it to start empty";
  return new StorageFailure("STORAGE_DAMAGED", `${path} is damaged: ${detail}; ${cure}`, options);
}

/** Turns an error from writing a batch into a `StorageFailure`. */
export function failureToWrite(path: string, error: unknown): StorageFailure {
  if (isDiskFull(error)) return diskFull(path, error);
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageFailure("STORAGE_FAILED", `${path} could not be written: ${reason}`, { cause: error });
}

function isDiskFull(error: unknown): boolean {
  if (error instanceof SqliteError) return error.code === "SQLITE_FULL";
  return ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function diskFull(path: string, cause: unknown): StorageFailure {
  return new StorageFailure("STORAGE_DISK_FULL", `the disk of ${path} is full; free some space and try again`, {
    cause,
  });
}
