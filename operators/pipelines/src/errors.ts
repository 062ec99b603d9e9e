import { SetpointError } from "setpoint";
import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/pipelines`. */
export const pipelinesErrors = defineErrors({
  PIPELINES_BUSY: {
    summary: "Another process keeps this folder.",
    cure: "Stop the process with the PID of the message, or ask it with `setpoint pipelines query`.",
  },
  PIPELINES_ENGINE_FAILED: {
    summary: "The engine refused a statement.",
    cure: "Correct the statement at the position of the message.",
  },
  PIPELINES_ENGINE_LOST: {
    summary: "The engine's process ended while a statement ran.",
    cure: "Nothing: the engine is started again and the run is repeated. Look at its memory limit if it recurs.",
  },
  PIPELINES_ADDRESS_UNAVAILABLE: {
    summary: "The server cannot listen on its port.",
    cure: "Take another port with `--port`, or 0 for any.",
  },
  PIPELINES_REQUEST_INVALID: {
    summary: "A request to the server, or the JSON of an option, makes no sense.",
    cure: "Correct the field that the message names.",
  },
  PIPELINES_FOLDER_INVALID: {
    summary: "The project's folder cannot be used.",
    cure: "Name a folder that is there and may be written.",
  },
  PIPELINES_RESOLVER_UNKNOWN: {
    summary: "A query asks a resolver that is not there, or not yet.",
    cure: "Take the resolver `sql`.",
  },
  PIPELINES_RESOURCE_UNKNOWN: {
    summary: "No file declares a resource of this name.",
    cure: "Look at the names with `setpoint pipelines graph`.",
  },
  PIPELINES_UNANSWERED: {
    summary: "The process that keeps the folder did not answer.",
    cure: "Look at that process; its PID is in the message.",
  },
  PIPELINES_FILE_INVALID: {
    summary: "A file of the project cannot be used.",
    cure: "Correct the file at the position of the message.",
  },
  PIPELINES_INPUT_FAILED: {
    summary: "What a model reads from elsewhere could not be fetched.",
    cure: "Look at the server, the address and the connector of the message. The last good table stays.",
  },
  PIPELINES_PARTITIONS_FAILED: {
    summary: "Some partitions of a model have errors; the others are loaded.",
    cure: "Correct what the first error names and refresh those partitions, or mark them as skipped.",
  },
  PIPELINES_PAUSED: {
    summary: "A model waits for somebody to ask for a refresh, as its change mode says.",
    cure: "`setpoint pipelines refresh MODEL --full`, or set `change_mode: reset`.",
  },
  PIPELINES_TESTS_FAILED: {
    summary: "A data test of a model failed; the last good table stays.",
    cure: "Correct the model, its input or the test.",
  },
});

export type PipelinesErrorCode = keyof typeof pipelinesErrors;

/** Where in the texts of a call the engine found the error. */
export interface StatementPosition {
  /** Of a publication `write`, `state`, `before 0`, `after 1`, `test NAME`; of a query `query`. */
  readonly part: string;
  /** In characters from the beginning of that text. */
  readonly offset?: number;
}

export class PipelinesError extends SetpointError<PipelinesErrorCode> {
  override readonly name = "PipelinesError";
  readonly position?: StatementPosition;

  constructor(
    code: PipelinesErrorCode,
    message: string,
    options?: ErrorOptions & { readonly position?: StatementPosition },
  ) {
    super(code, message, options);
    if (options?.position) this.position = options.position;
  }
}
