import { SetpointError } from "setpoint";
import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/agents`. */
export const agentsErrors = defineErrors({
  AGENTS_DATABASE_FAILED: {
    summary: "The database refused a statement or could not be reached.",
    cure: "Look at the cause in the log. The operator retries.",
  },
  AGENTS_DATABASE_SHARED: {
    summary: "The operator has more than one replica, but its database is a SQLite file.",
    cure: "Give all replicas one PostgreSQL database with --database postgres://…, or run one replica.",
  },
  AGENTS_INVALID_SPEC: {
    summary: "The spec of an object has an error.",
    cure: "Change the field that the message names.",
  },
  AGENTS_REFERENCE_DENIED: {
    summary: "An Agent refers to an object of another namespace, which does not allow it.",
    cure: "Set allowedNamespaces on the referenced object, or move one of the two.",
  },
  AGENTS_REFERENCE_MISSING: {
    summary: "A referenced object, or a key in it, does not exist.",
    cure: "Create it, or correct the reference. The operator reconciles when it appears.",
  },
  MCP_HTTP_STATUS: {
    summary: "An MCP server answered with an HTTP error status.",
    cure: "Check the URL and the headers of the server.",
  },
  MCP_NOT_MCP: {
    summary: "The server at the URL does not speak MCP.",
    cure: "Check the path of the URL and the protocol (SSE or STREAMABLE_HTTP).",
  },
  MCP_PROTOCOL: {
    summary: "An MCP server broke its protocol or answered with an error.",
    cure: "Look at the server's own log. The message quotes its answer.",
  },
  MCP_TIMEOUT: {
    summary: "An MCP server did not answer within its timeout.",
    cure: "Check that the server runs. If it is slow, raise spec.timeout.",
  },
  MCP_TLS: {
    summary: "The TLS handshake with an MCP server failed.",
    cure: "Name the server's CA in spec.tls.caCertSecretRef, or correct its certificate.",
  },
  MCP_TOO_LARGE: {
    summary: "The answer of an MCP server is larger than the limit.",
    cure: "Make the server list fewer tools, or shorten their descriptions.",
  },
  MCP_UNAUTHORIZED: {
    summary: "An MCP server refuses the credentials.",
    cure: "Correct the headers that headersFrom names.",
  },
  MCP_UNREACHABLE: {
    summary: "The operator could not connect to an MCP server.",
    cure: "Check host, port, name resolution and network policies.",
  },
});

export type AgentsErrorCode = keyof typeof agentsErrors;

export class AgentsError extends SetpointError<AgentsErrorCode> {
  override readonly name = "AgentsError";
}

export const invalidSpec = (message: string): AgentsError => new AgentsError("AGENTS_INVALID_SPEC", message);
export const referenceMissing = (message: string): AgentsError => new AgentsError("AGENTS_REFERENCE_MISSING", message);
