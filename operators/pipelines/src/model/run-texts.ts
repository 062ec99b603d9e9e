import { PipelinesError } from "../errors.js";
import { placeName, type SourceText } from "../project/source-text.js";
import { type RenderedText, renderText, type TemplateData } from "../template/render-text.js";

/** The texts of one run, rendered, so that an error of the engine can name its place in the user's file. */
export class RunTexts {
  readonly #data: TemplateData;
  readonly #rendered = new Map<string, RenderedText>();

  constructor(data: TemplateData) {
    this.#data = data;
  }

  /** `part` is what the engine's errors call the text. */
  render(part: string, source: SourceText): string {
    const rendered = renderText(source, this.#data);
    this.#rendered.set(part, rendered);
    return rendered.text;
  }

  /** The same error, with the place in the file that it is about. */
  placed(error: unknown): unknown {
    if (!(error instanceof PipelinesError) || !error.position) return error;
    const { part, offset = 0 } = error.position;
    const text = this.#rendered.get(part);
    if (!text) return error;
    const { code, message, position } = error;
    return new PipelinesError(code, `${placeName(text.placeOf(offset))}: ${message}`, { cause: error, position });
  }
}
