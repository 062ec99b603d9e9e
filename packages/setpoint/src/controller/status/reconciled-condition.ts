import { type Condition, findCondition } from "../../kinds/condition.js";
import type { KubeObject } from "../../kinds/object.js";
import { messageOf, type Outcome } from "../../loop/outcome.js";

/** The condition in which the runtime shows success, waits and failures. */
const RECONCILED = "Reconciled";

/** How many runs in a row must fail before the object shows it: one or two may be a conflict, or a server that restarts. */
export const FAILURES_SHOWN = 3;

type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

/** How many conditions to keep whose write is not confirmed. */
const MAX_OPEN = 4;
const NONE: readonly Said[] = [];

/** The attempt of a key that ended. */
export interface Attempt {
  /** 0 for the first attempt. */
  readonly attempt: number;
  /** Whether its failure is the last of the retry policy. */
  readonly isLastAttempt: boolean;
}

interface Sayings {
  readonly uid: string;
  /** The False conditions that this controller has, or may have, written since its last confirmed write. */
  open: readonly Said[];
}

/**
 * What one controller says in the condition `Reconciled`, which all controllers of a kind share. Each controller
 * removes only what it said itself: a False stays until the controller that set it says otherwise. That write wakes the
 * others, so that the next one that is not done shows its own False. A False from before the start of this process may
 * be this controller's own, and is treated as such: none stays forever, and if it was another controller's, that one
 * sets it again.
 */
export class ReconciledCondition {
  /** By key, for all objects that ran since the start. */
  readonly #said = new Map<string, Sayings>();

  /**
   * What an outcome says about the object; undefined for nothing. Success, and failures before the last, are shown only
   * if the kind declares conditions (`isDeclared`), or to remove what is shown: other kinds have no such condition, and
   * the account may not write their status.
   */
  of(outcome: Outcome, { attempt, isLastAttempt }: Attempt, object: KubeObject, isDeclared: boolean): Said | undefined {
    switch (outcome.type) {
      case "waitFor":
        return negative(outcome.reason, outcome.message);
      case "terminal":
        return negative("TerminalError", messageOf(outcome.error));
      case "retry":
        if (isLastAttempt) return negative("RetriesExhausted", messageOf(outcome.error));
        return isDeclared && attempt + 1 >= FAILURES_SHOWN
          ? negative("ReconcileFailed", messageOf(outcome.error))
          : undefined;
      default: {
        const isWanted = isDeclared && !object.metadata.deletionTimestamp;
        if (!isWanted && !shownIn(object)) return undefined;
        return { type: RECONCILED, status: "True", reason: "Succeeded", message: "" };
      }
    }
  }

  /** Records the object at the start of a run. */
  meet(key: string, object: KubeObject): void {
    const { uid } = object.metadata;
    if (this.#said.get(key)?.uid === uid) return;
    const shown = shownIn(object);
    this.#said.set(key, { uid, open: shown?.status === "False" ? [shown] : NONE });
  }

  /** Whether the condition that a known object shows may be replaced. */
  mayReplace(key: string, shown: Condition | undefined): boolean {
    if (shown?.status !== "False") return true;
    return this.#said.get(key)?.open.some((said) => isSame(said, shown)) ?? true;
  }

  /** Records what is about to be written. */
  writing(key: string, said: Said): void {
    const sayings = this.#said.get(key);
    if (!sayings || said.status !== "False") return;
    sayings.open = [...sayings.open.filter((other) => !isSame(other, said)), said].slice(-MAX_OPEN);
  }

  /** The write is confirmed: earlier conditions are no longer shown. */
  wrote(key: string, said: Said): void {
    const sayings = this.#said.get(key);
    if (sayings) sayings.open = said.status === "False" ? [said] : NONE;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#said.delete(key);
  }
}

function shownIn(object: KubeObject): Condition | undefined {
  const { conditions } = (object as { status?: { conditions?: readonly Condition[] } }).status ?? {};
  return findCondition(conditions, RECONCILED);
}

function negative(reason: string, message: string): Said {
  return { type: RECONCILED, status: "False", reason, message };
}

/** A schema may lack reason or message, so ignore fields that it prunes. */
function isSame(said: Said, shown: Partial<Condition>): boolean {
  const { reason = said.reason, message = said.message } = shown;
  return reason === said.reason && message === said.message;
}
