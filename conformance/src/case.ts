import type { Session } from "./session.js";

/** One behaviour, tried on both servers; the transcripts are compared. */
export interface Case {
  readonly area: string;
  readonly name: string;
  readonly run: (session: Session) => Promise<void>;
  /** Affects other cases (cluster-wide webhooks, discovery of everything): runs when no other case does. */
  readonly alone?: boolean;
  /** Waits for a controller that other cases keep busy: runs before them, with others of this type. */
  readonly early?: boolean;
  /** Leaves something behind that other cases would see: runs after them, with others of this type. */
  readonly late?: boolean;
}

/** Declares the cases of one area: `area("apply", { "two managers conflict": async (s) => { … } })`. */
export function area(
  name: string,
  cases: Readonly<Record<string, Case["run"] | Omit<Case, "area" | "name">>>,
): readonly Case[] {
  return Object.entries(cases).map(([title, body]) =>
    typeof body === "function" ? { area: name, name: title, run: body } : { area: name, name: title, ...body },
  );
}
