import { SetpointError } from "setpoint";
import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/pipelines`. */
export const pipelinesErrors = defineErrors({
  PIPELINES_BUSY: {
    summary: "Another process runs on this folder.",
    cure: "Stop the process whose PID the message has, or query it with `setpoint pipelines query`.",
  },
  PIPELINES_ENGINE_FAILED: {
    summary: "The engine refused a statement.",
    cure: "Correct the statement at the position that the message names.",
  },
  PIPELINES_ENGINE_LOST: {
    summary: "The engine's process ended while a statement ran.",
    cure: "Nothing to do: the operator starts the engine again and repeats the run. If it recurs, look at the memory limit.",
  },
  PIPELINES_ADDRESS_UNAVAILABLE: {
    summary: "The server cannot listen on its port.",
    cure: "Choose another port with `--port`, or 0 for any free one.",
  },
  PIPELINES_REQUEST_INVALID: {
    summary: "A request to the server, or the JSON of an option, is invalid.",
    cure: "Correct the field that the message names.",
  },
  PIPELINES_FOLDER_INVALID: {
    summary: "The project's folder does not exist, or is not writable.",
    cure: "Name an existing folder that you may write to.",
  },
  PIPELINES_RESOLVER_UNKNOWN: {
    summary: "A query names a resolver that does not exist.",
    cure: "Use the resolver `sql`.",
  },
  PIPELINES_RESOURCE_UNKNOWN: {
    summary: "No file declares a resource of this name.",
    cure: "List the names with `setpoint pipelines graph`.",
  },
  PIPELINES_UNANSWERED: {
    summary: "The process that runs on the folder did not answer.",
    cure: "Look at that process. The message has its PID.",
  },
  PIPELINES_FILE_INVALID: {
    summary: "A file of the project has an error.",
    cure: "Correct the file at the position that the message names.",
  },
  PIPELINES_INPUT_FAILED: {
    summary: "A model could not fetch its input.",
    cure: "Check the server, the address and the connector that the message names. The last good table stays.",
  },
  PIPELINES_PARTITIONS_FAILED: {
    summary: "Some partitions of a model have errors; the others are loaded.",
    cure: "Correct the cause of the first error and refresh those partitions, or mark them as skipped.",
  },
  PIPELINES_PAUSED: {
    summary: "A model waits for a manual refresh, because its change mode is `manual`.",
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
  /** In a publication: `write`, `state`, `before 0`, `after 1` or `test NAME`. In a query: `query`. */
  readonly part: string;
  /** Offset in that text, in characters. */
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
