export type { Database, DriverName, Row, SqlValue, Statement, StatementResult } from "./database.js";
export { sqliteErrors } from "./errors.js";
export { availableDrivers, type OpenOptions, openDatabase } from "./open-database.js";
export { SqliteError, type SqliteErrorCode } from "./sqlite-error.js";
