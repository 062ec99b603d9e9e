import { SetpointError } from "setpoint";
import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/agents`. */
export const agentsErrors = defineErrors({
  AGENTS_DATABASE_FAILED: {
    summary: "The database refused a statement or could not be reached.",
    cure: "Look at the cause in the log; the operator tries again by itself.",
  },
  AGENTS_DATABASE_SHARED: {
    summary: "A SQLite file was asked for together with more than one replica.",
    cure: "Give all replicas one PostgreSQL with --database postgres://…, or run one replica.",
  },
  AGENTS_INVALID_SPEC: {
    summary: "An object says something that cannot be carried out.",
    cure: "Change the field that the message names.",
  },
  AGENTS_REFERENCE_DENIED: {
    summary: "An Agent refers to an object of another namespace that does not let it.",
    cure: "Set allowedNamespaces on the object that is referred to, or move one of the two.",
  },
  AGENTS_REFERENCE_MISSING: {
    summary: "An object, or a key in it, that another one refers to is not there.",
    cure: "Create it, or correct the reference; nothing else is needed, the operator sees it appear.",
  },
  MCP_HTTP_STATUS: {
    summary: "An MCP server answered with an HTTP status that is no success.",
    cure: "Check the URL and the headers of the server.",
  },
  MCP_NOT_MCP: {
    summary: "What answers at the URL of an MCP server does not speak MCP.",
    cure: "Check the path of the URL and the protocol (SSE or STREAMABLE_HTTP).",
  },
  MCP_PROTOCOL: {
    summary: "An MCP server broke its protocol or answered with an error.",
    cure: "Look at the server's own log; the message quotes what it said.",
  },
  MCP_TIMEOUT: {
    summary: "An MCP server did not answer within its timeout.",
    cure: "Look whether it is up; raise spec.timeout where it is slow.",
  },
  MCP_TLS: {
    summary: "The TLS connection to an MCP server could not be made.",
    cure: "Give its authority with spec.tls.caCertSecretRef, or correct the certificate.",
  },
  MCP_TOO_LARGE: {
    summary: "An MCP server's answers exceed what is kept of them.",
    cure: "Let the server list fewer tools, or shorter descriptions.",
  },
  MCP_UNAUTHORIZED: {
    summary: "An MCP server refuses the credentials.",
    cure: "Correct the headers that headersFrom names.",
  },
  MCP_UNREACHABLE: {
    summary: "No connection to an MCP server could be made.",
    cure: "Check host and port, name resolution and network policies.",
  },
});

export type AgentsErrorCode = keyof typeof agentsErrors;

export class AgentsError extends SetpointError<AgentsErrorCode> {
  override readonly name = "AgentsError";
}

export const invalidSpec = (message: string): AgentsError => new AgentsError("AGENTS_INVALID_SPEC", message);
export const referenceMissing = (message: string): AgentsError => new AgentsError("AGENTS_REFERENCE_MISSING", message);
