/** The data behind the REST API. It is derived from Kubernetes objects and can be rebuilt at any time. */

export interface AgentRow {
  /** A Python identifier: `team__NS__math_agent`. */
  readonly id: string;
  readonly uid: string;
  readonly type: string;
  /** The configuration as JSON, without Secret values. */
  readonly config: string;
}

/** Both fields identify a tool server: `team/search` and `RemoteMCPServer.kagent.dev`. */
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
  /** The name of its server: `team/search`. */
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
 * The database. Each method is one short transaction or statement. No transaction stays open across other awaits, so
 * callers cannot block each other. A write that changes nothing resolves to false. Rows belong to the object with their
 * uid, so a late write for a deleted or recreated object has no effect.
 */
export interface Store extends AsyncDisposable {
  /** Like the other writes, resolves to whether anything changed. */
  putAgent(row: AgentRow): Promise<boolean>;
  deleteAgent(id: string, uid: string): Promise<boolean>;
  putServer(row: ServerRow): Promise<boolean>;
  /** Also deletes the server's tools. */
  deleteServer(server: ServerId, uid: string): Promise<boolean>;
  /** Atomic, and keeps the order. Does nothing if the server has no row with this uid. */
  replaceTools(server: ServerId, uid: string, tools: readonly Tool[], connectedAt: string): Promise<boolean>;
  agents(): Promise<readonly AgentRow[]>;
  servers(): Promise<readonly StoredServer[]>;
  /** The tools of one server or of all, in each server's order. */
  tools(server?: ServerId): Promise<readonly ToolRow[]>;
}
