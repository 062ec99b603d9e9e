import type { AgentRow, ServerId, ServerRow, Store, StoredServer, Tool, ToolRow } from "./store.js";

export type SqlValue = string | number | null;
export interface SqlStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A database driver. Parameters are written as `?`. */
export interface SqlDatabase extends AsyncDisposable {
  /** Runs statements in one transaction. Resolves to the number of changed rows of each statement. */
  write(statements: readonly SqlStatement[]): Promise<readonly number[]>;
  read(statement: SqlStatement): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A SELECT that turns one JSON parameter, a list of tools, into rows of name, description and position. */
  readonly listedTools: string;
}

/** kagent's tables, plus columns for the object's uid and the order of tools. */
export const SCHEMA = [
  "agent (id TEXT PRIMARY KEY, uid TEXT NOT NULL, type TEXT NOT NULL, config TEXT NOT NULL, workload_type TEXT NOT NULL DEFAULT 'deployment'",
  "toolserver (name TEXT, group_kind TEXT, uid TEXT NOT NULL, description TEXT NOT NULL, last_connected TEXT, PRIMARY KEY (name, group_kind)",
  "tool (id TEXT, server_name TEXT, group_kind TEXT, description TEXT NOT NULL, position INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (id, server_name, group_kind)",
].map((table) => `CREATE TABLE IF NOT EXISTS ${table})`);

const OF_SERVER = "server_name = ? AND group_kind = ?";
const OWNED = "EXISTS (SELECT 1 FROM toolserver WHERE name = ? AND group_kind = ? AND uid = ?)";

/** The store on any SQL database. */
export class SqlStore implements Store {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  putAgent({ id, uid, type, config }: AgentRow): Promise<boolean> {
    const sql = `INSERT INTO agent (id, uid, type, config) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, type = excluded.type, config = excluded.config
      WHERE agent.uid <> excluded.uid OR agent.type <> excluded.type OR agent.config <> excluded.config`;
    return this.#write({ sql, values: [id, uid, type, config] });
  }

  deleteAgent(id: string, uid: string): Promise<boolean> {
    return this.#write({ sql: "DELETE FROM agent WHERE id = ? AND uid = ?", values: [id, uid] });
  }

  putServer({ name, groupKind, uid, description }: ServerRow): Promise<boolean> {
    const forget = `DELETE FROM tool WHERE ${OF_SERVER} AND NOT ${OWNED}`;
    const sql = `INSERT INTO toolserver (name, group_kind, uid, description) VALUES (?, ?, ?, ?)
      ON CONFLICT (name, group_kind) DO UPDATE SET uid = excluded.uid, description = excluded.description,
        last_connected = CASE WHEN toolserver.uid = excluded.uid THEN toolserver.last_connected END
      WHERE toolserver.uid <> excluded.uid OR toolserver.description <> excluded.description`;
    return this.#write(
      // Drop the tools of an earlier object with the same name.
      { sql: forget, values: [name, groupKind, name, groupKind, uid] },
      { sql, values: [name, groupKind, uid, description] },
    );
  }

  deleteServer({ name, groupKind }: ServerId, uid: string): Promise<boolean> {
    return this.#write(
      {
        sql: `DELETE FROM tool WHERE ${OF_SERVER} AND ${OWNED}`,
        values: [name, groupKind, name, groupKind, uid],
      },
      { sql: "DELETE FROM toolserver WHERE name = ? AND group_kind = ? AND uid = ?", values: [name, groupKind, uid] },
    );
  }

  async replaceTools(server: ServerId, uid: string, tools: readonly Tool[], connectedAt: string): Promise<boolean> {
    const { name, groupKind } = server;
    const { listedTools } = this.#database;
    const current = await this.tools(server);
    const isSame =
      current.length === tools.length &&
      tools.every((tool, at) => tool.name === current[at]!.name && tool.description === current[at]!.description);
    const connected: SqlStatement = {
      sql: "UPDATE toolserver SET last_connected = ? WHERE name = ? AND group_kind = ? AND uid = ?",
      values: [connectedAt, name, groupKind, uid],
    };
    if (isSame) {
      await this.#write(connected);
      return false;
    }
    const owned = [name, groupKind, uid];
    const list = JSON.stringify(tools);
    const [, deleted = 0, stored = 0] = await this.#database.write([
      // First, because it locks the server's row and so serializes concurrent replacements of its tools.
      connected,
      {
        sql: `DELETE FROM tool WHERE ${OF_SERVER} AND ${OWNED} AND id NOT IN (SELECT listed.name FROM (${listedTools}) AS listed)`,
        values: [name, groupKind, ...owned, list],
      },
      {
        sql: `INSERT INTO tool (id, server_name, group_kind, description, position, created_at, updated_at)
          SELECT listed.name, ?, ?, listed.description, listed.position, ?, ? FROM (${listedTools}) AS listed WHERE ${OWNED}
          ON CONFLICT (id, server_name, group_kind) DO UPDATE SET description = excluded.description,
            position = excluded.position, updated_at = excluded.updated_at
          WHERE tool.description <> excluded.description OR tool.position <> excluded.position`,
        values: [name, groupKind, connectedAt, connectedAt, list, ...owned],
      },
    ]);
    return deleted + stored > 0;
  }

  async agents(): Promise<readonly AgentRow[]> {
    const rows = await this.#database.read({ sql: "SELECT id, uid, type, config FROM agent ORDER BY id", values: [] });
    return rows as unknown as readonly AgentRow[];
  }

  async servers(): Promise<readonly StoredServer[]> {
    const sql = "SELECT name, group_kind, uid, description, last_connected FROM toolserver ORDER BY name, group_kind";
    const rows = await this.#database.read({ sql, values: [] });
    return rows.map(({ name, group_kind, uid, description, last_connected }) => ({
      name: String(name),
      groupKind: String(group_kind),
      uid: String(uid),
      description: String(description),
      lastConnected: last_connected === null ? undefined : String(last_connected),
    }));
  }

  async tools(server?: ServerId): Promise<readonly ToolRow[]> {
    const where = server ? `WHERE ${OF_SERVER}` : "";
    const rows = await this.#database.read({
      sql: `SELECT id, server_name, group_kind, description, created_at, updated_at FROM tool ${where} ORDER BY server_name, group_kind, position`,
      values: server ? [server.name, server.groupKind] : [],
    });
    return rows.map((row) => ({
      name: String(row.id),
      description: String(row.description),
      server: String(row.server_name),
      groupKind: String(row.group_kind),
      createdAt: String(row.created_at),
      updatedAt: String(row.updated_at),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }

  async #write(...statements: readonly SqlStatement[]): Promise<boolean> {
    return (await this.#database.write(statements)).some((changed) => changed > 0);
  }
}
