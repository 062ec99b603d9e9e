import { isSetpointError } from "../../errors/error.js";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { Logger } from "../../loop/logger.js";
import { messageOf } from "../../loop/outcome.js";

/** Logs informer errors for people: a line when the error of a kind changes, and one when it is over. */
export function informerLog(log: Logger): {
  onError(kind: Kind, error: unknown): void;
  onRecovered(kind: Kind): void;
} {
  const troubles = new Map<string, string>();
  return {
    onError: (kind, error) => {
      const id = kindId(kind);
      const trouble = isSetpointError(error) ? error.code : messageOf(error);
      const isKnown = troubles.get(id) === trouble;
      troubles.set(id, trouble);
      const message = `the informer of ${id}: ${messageOf(error)}`;
      if (isKnown) log.debug(message, { kind: id, error });
      else log.warn(message, { kind: id, error });
    },
    onRecovered: (kind) => {
      const id = kindId(kind);
      if (troubles.delete(id)) log.info(`the informer of ${id} works again`, { kind: id });
    },
  };
}
