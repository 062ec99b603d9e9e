export type { Database, DriverName, Row, RunResult, SqlValue, Statement } from "./database.js";
export { availableDrivers, type OpenOptions, openDatabase } from "./open-database.js";
export { SqliteError, type SqliteErrorCode, sqliteErrors } from "./sqlite-error.js";
