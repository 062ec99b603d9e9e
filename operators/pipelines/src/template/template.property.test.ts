import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sourceText } from "../project/source-text.js";
import { parseTemplate } from "./parse-template.js";
import { renderTemplate } from "./render.js";
import { renderText } from "./render-text.js";
import { TemplateError } from "./template.js";

/** A template, and its expected result: pieces of text with their offset in the template, or without. */
interface Sample {
  readonly template: string;
  readonly pieces: readonly { readonly text: string; readonly from?: number }[];
}

const DATA = { environment: "dev", variables: { a: "one", b: "" }, state: { list: ["x", "y"], n: 3 } };

/** Joins samples; offsets of verbatim text shift accordingly. */
function joined(samples: readonly Sample[]): Sample {
  return samples.reduce(
    (left, right) => ({
      template: left.template + right.template,
      pieces: [...left.pieces, ...right.pieces.map((piece) => moved(piece, left.template.length))],
    }),
    { template: "", pieces: [] },
  );
}

const moved = ({ text, from }: Sample["pieces"][number], by: number) => ({
  text,
  ...(from !== undefined && { from: from + by }),
});

/** Puts a sample between two actions, repeated as often as it is rendered. */
function between(before: string, inner: Sample, after: string, times: number): Sample {
  const pieces = inner.pieces.map((piece) => moved(piece, before.length));
  return { template: before + inner.template + after, pieces: Array.from({ length: times }, () => pieces).flat() };
}

const text = fc
  .array(fc.constantFrom("a", "b ", "\n", "{ ", "}", "'", '"', "é😀", "--", "}}"), { maxLength: 5 })
  .map((parts) => parts.join(""))
  .filter((some) => !some.includes("{{"))
  .map((some): Sample => ({ template: some, pieces: some === "" ? [] : [{ text: some, from: 0 }] }));

const action = fc.constantFrom<readonly [string, string]>(
  ["{{ .env.a }}", "one"],
  ['{{ "}}" }}', "}}"],
  ["{{/* }} */}}", ""],
  ["{{ .state.n | printf `%d-%s` 1 }}", "1-3"],
  ["{{ $v := 1 }}", ""],
  ['{{ ref "x" }}', '"x"'],
  ["{{ len .state.list }}", "2"],
);

const leaf = fc.oneof(
  text,
  action.map(([template, out]): Sample => ({ template, pieces: out === "" ? [] : [{ text: out }] })),
);

const sample = fc.letrec<{ node: Sample; all: Sample }>((tie) => ({
  all: fc.array(tie("node"), { maxLength: 4 }).map(joined),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.tuple(fc.boolean(), tie("all"), tie("all")).map(([isTaken, yes, no]) => {
      const open = isTaken ? "{{ if .env.a }}" : "{{ if .env.b }}";
      const taken = between(open, yes, "{{ else }}", isTaken ? 1 : 0);
      const other = between("", no, "{{ end }}", isTaken ? 0 : 1);
      return joined([taken, other]);
    }),
    tie("all").map((inner) => between("{{ range $i, $x := .env.list }}", inner, "{{ end }}", 0)),
    tie("all").map((inner) => between("{{ with $ }}", inner, "{{ end }}", 1)),
    tie("all").map((inner) => between("{{ range until 2 }}{{ with $ }}", inner, "{{ end }}{{ end }}", 2)),
  ),
})).all;

describe("a random template", () => {
  it("renders to its rendered parts, and every verbatim character maps to itself", () => {
    fc.assert(
      fc.property(sample, ({ template, pieces }) => {
        const rendered = renderText(sourceText("t", template), DATA);
        expect(rendered.text).toBe(pieces.map((piece) => piece.text).join(""));
        let offset = 0;
        const lines = template.split("\n");
        for (const { text: part, from } of pieces) {
          for (let at = 0; at < part.length; at++, offset++) {
            const { line, column } = rendered.placeOf(offset);
            const found = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
            if (from !== undefined) expect(found).toBe(from + at);
            else expect(template.slice(found, found + 2)).toBe("{{");
          }
        }
      }),
    );
  });

  it("is rendered, or refused with a place inside of it", () => {
    const parts = fc.constantFrom(
      "{{",
      "}}",
      "if ",
      "else ",
      "end ",
      "range ",
      "with ",
      " .env.a ",
      "$x ",
      ":= ",
      '"',
      "`",
      "(",
      ")",
      "|",
      " 1 ",
      "-",
      " ",
      "\n",
      "ref ",
      "x",
      "define ",
      "template ",
      "block ",
      ".",
      ",",
      "=",
      "/*",
      "*/",
      "until ",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 14 }), (some) => {
        const template = some.join("");
        try {
          renderTemplate(parseTemplate(template), {
            root: { env: { a: "one" } },
            functions: new Map([["ref", () => "r"]]),
          });
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
          expect((error as TemplateError).offset).toBeGreaterThanOrEqual(0);
          expect((error as TemplateError).offset).toBeLessThanOrEqual(template.length);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("without actions is unchanged", () => {
    fc.assert(
      fc.property(
        fc.string().filter((some) => !some.includes("{{")),
        (some) => {
          expect(renderText(sourceText("t", some), DATA).text).toBe(some);
        },
      ),
    );
  });
});
