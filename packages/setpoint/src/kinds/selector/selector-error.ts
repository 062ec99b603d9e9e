import { SetpointError } from "../../errors/error.js";

/** A part of a selector that breaks a rule of Kubernetes. */
export interface InvalidPart {
  readonly field: string;
  readonly value: string;
  readonly detail: string;
}

/** A selector that an API server would refuse, and why, in the server's words. */
export class SelectorError extends SetpointError<"LABEL_SELECTOR_INVALID" | "FIELD_SELECTOR_INVALID"> {
  readonly why: string;
  /** What is wrong with its keys and values; empty where the text cannot be read at all. */
  readonly parts: readonly InvalidPart[];

  constructor(of: "label" | "field", selector: string, why: string, parts: readonly InvalidPart[] = []) {
    const shown = parts.slice(0, 10).map(({ field, value, detail }) => `${field}: ${JSON.stringify(value)}: ${detail}`);
    const code = of === "label" ? "LABEL_SELECTOR_INVALID" : "FIELD_SELECTOR_INVALID";
    super(code, `${of} selector ${JSON.stringify(selector)}: ${[why, ...shown].join(": ")}`);
    this.why = why;
    this.parts = parts;
  }
}
