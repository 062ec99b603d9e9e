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

/** Which try of a key ended. */
export interface Attempt {
  /** 0 for a first try. */
  readonly attempt: number;
  /** Whether its failure is the last of the retry policy. */
  readonly isLastAttempt: boolean;
}

interface Sayings {
  readonly uid: string;
  /** The False conditions that this controller has, or may have, written since its last write that was answered. */
  open: readonly Said[];
}

/**
 * What one controller says in the condition `Reconciled`, which all controllers of a kind have in common. Each takes back
 * what it said itself and nothing else: a False stays until whoever set it says otherwise, which wakes the others, so that
 * the next one that is not done shows it. A False that was there before the first run since the start may be the own word
 * of a former life, and is taken for that: so none stays for good, and one that was of another is set again by that one.
 */
export class ReconciledCondition {
  /** By key, of all objects that ran since the start. */
  readonly #said = new Map<string, Sayings>();

  /**
   * What an outcome says of the object; undefined where it says nothing. Success, and failures before the last, are said
   * where the kind declares conditions (`isDeclared`), or to take back what is shown: others expect no such condition, and
   * the account may not be allowed to write their status.
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

  /** Takes note of an object as a run got it. */
  meet(key: string, object: KubeObject): void {
    const { uid } = object.metadata;
    if (this.#said.get(key)?.uid === uid) return;
    const shown = shownIn(object);
    this.#said.set(key, { uid, open: shown?.status === "False" ? [shown] : NONE });
  }

  /** Whether what is shown of an object that was met may be replaced. */
  mayReplace(key: string, shown: Condition | undefined): boolean {
    if (shown?.status !== "False") return true;
    return this.#said.get(key)?.open.some((said) => isSame(said, shown)) ?? true;
  }

  /** Takes note of what is about to be written. */
  writing(key: string, said: Said): void {
    const sayings = this.#said.get(key);
    if (!sayings || said.status !== "False") return;
    sayings.open = [...sayings.open.filter((other) => !isSame(other, said)), said].slice(-MAX_OPEN);
  }

  /** It was written: nothing that was said before is shown any more. */
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

/** Schemas may know conditions without reason or message: what they prune says nothing. */
function isSame(said: Said, shown: Partial<Condition>): boolean {
  const { reason = said.reason, message = said.message } = shown;
  return reason === said.reason && message === said.message;
}
