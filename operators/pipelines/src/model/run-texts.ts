import { PipelinesError } from "../errors.js";
import { placeName, type SourceText } from "../project/source-text.js";
import { type RenderedText, renderText, type TemplateData } from "../template/render-text.js";

/** Renders the texts of one run and keeps them, so that an engine error can name its place in the user's file. */
export class RunTexts {
  readonly #data: TemplateData;
  readonly #rendered = new Map<string, RenderedText>();

  constructor(data: TemplateData) {
    this.#data = data;
  }

  /** `part` is the name of the text in the engine's errors. */
  render(part: string, source: SourceText): string {
    const rendered = renderText(source, this.#data);
    this.#rendered.set(part, rendered);
    return rendered.text;
  }

  /** The same error, with its place in the file if that is known. */
  placed(error: unknown): unknown {
    if (!(error instanceof PipelinesError) || !error.position) return error;
    const { part, offset = 0 } = error.position;
    const text = this.#rendered.get(part);
    if (!text) return error;
    const { code, message, position } = error;
    return new PipelinesError(code, `${placeName(text.placeOf(offset))}: ${message}`, { cause: error, position });
  }
}
