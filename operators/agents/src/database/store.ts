/** The data behind the REST API. Derived from the objects: it can be rebuilt at any time. */

export interface AgentRow {
  /** An identifier of Python: `team__NS__math_agent`. */
  readonly id: string;
  readonly uid: string;
  readonly type: string;
  /** The configuration as JSON, without values of Secrets. */
  readonly config: string;
}

/** A tool server is known by both: `team/search` and `RemoteMCPServer.kagent.dev`. */
export interface ServerId {
  readonly name: string;
  readonly groupKind: string;
}

export interface ServerRow extends ServerId {
  readonly uid: string;
  readonly description: string;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
}

export interface ToolRow extends Tool {
  /** Its server: `team/search`. */
  readonly server: string;
  readonly groupKind: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StoredServer extends ServerRow {
  /** When its tools were last listed, as RFC 3339; undefined if never. */
  readonly lastConnected: string | undefined;
}

/**
 * The database. Each method is one short transaction, or one statement; none is open across anything else that is awaited,
 * so no caller can hold up another. Writes that change nothing write nothing, and say so. Rows belong to an object by
 * its uid: what is meant for an object that is gone, or was made again, changes nothing.
 */
export interface Store extends AsyncDisposable {
  /** Resolves to whether anything changed; so do the other writes. */
  putAgent(row: AgentRow): Promise<boolean>;
  deleteAgent(id: string, uid: string): Promise<boolean>;
  putServer(row: ServerRow): Promise<boolean>;
  /** Takes its tools with it. */
  deleteServer(server: ServerId, uid: string): Promise<boolean>;
  /** All or nothing; the order is kept. Nothing happens where the server has no row with this uid. */
  replaceTools(server: ServerId, uid: string, tools: readonly Tool[], connectedAt: string): Promise<boolean>;
  agents(): Promise<readonly AgentRow[]>;
  servers(): Promise<readonly StoredServer[]>;
  /** Of one server or of all, in the order in which servers gave them. */
  tools(server?: ServerId): Promise<readonly ToolRow[]>;
}
