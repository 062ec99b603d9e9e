import { describe, expect, it } from "vitest";
import { analyzed, UNKNOWN_NAME } from "./analysis.js";
import { parseTemplate } from "./parse-template.js";

const KNOWN = { environment: "dev", variables: { mode: "full", limit: "10" } };
const analyze = (text: string, known = KNOWN) => analyzed(parseTemplate(text), known);
const texts = (text: string, isActual?: boolean) =>
  analyze(text)
    .variants.filter((variant) => isActual === undefined || variant.isActual === isActual)
    .map((variant) => variant.texts[0]!.text.replaceAll(UNKNOWN_NAME, "?"));

describe("the possible results of a template", () => {
  it("text without actions is unchanged", () => {
    expect(analyze("SELECT 1")).toMatchObject({
      refs: [],
      variables: [],
      variants: [{ isActual: true, unknowns: [] }],
    });
    expect(texts("SELECT 1")).toEqual(["SELECT 1"]);
  });

  it.each([
    ["{{ if dev }}d{{ else if prod }}p{{ else }}o{{ end }}", ["d"], ["p", "o"]],
    ["{{ if incremental }}i{{ end }}x", ["x", "ix"], []],
    ['{{ if eq .env.mode "full" }}a{{ else }}b{{ end }}', ["a"], ["b"]],
    ["{{ if .state.x }}a{{ else }}b{{ end }}", ["a", "b"], []],
    ["{{ if .state.x }}a{{ else }}b{{ end }}{{ if .state.x }}c{{ else }}d{{ end }}", ["ac", "bd"], []],
    ["{{ if dev }}a{{ end }}{{ if not dev }}b{{ end }}", ["a"], ["b"]],
    ["{{ range .args.ids }}<{{ . }}>{{ else }}none{{ end }}", ["<?>", "none"], []],
    ["{{ with .user.name }}{{ . }}{{ else }}nobody{{ end }}", ["?", "nobody"], []],
    ["{{ .env.limit }} {{ .partition.id }} {{ now }}", ["10 ? ?"], []],
    ["{{ upper .state.x }}{{ .state.x | default 1 }}{{ len .args.y }}", ["???"], []],
    ['{{ $t := .state.t }}{{ $t.x }}{{ (lookup "m").state.y }}', ["??"], []],
    ["{{ or .env.nothing .state.x }}{{ and .state.x 1 }}", ["??"], []],
  ])("%s", (template, actual, others) => {
    expect(texts(template, true)).toEqual(actual);
    expect(texts(template, false).sort()).toEqual([...others].sort());
  });

  it("values known only at run time become a name, a number and nothing", () => {
    const [variant] = analyze("LIMIT {{ .state.n }}").variants;
    expect(variant!.texts.map(({ text }) => text)).toEqual([`LIMIT ${UNKNOWN_NAME}`, "LIMIT 0", "LIMIT "]);
    expect(variant!.unknowns).toEqual([".state.n"]);
  });

  it("many conditions are limited, and each is tried both ways", () => {
    const template = Array.from(
      { length: 12 },
      (_, at) => `{{ if .state.x${at} }}a${at},{{ else }}b${at},{{ end }}`,
    ).join("");
    const all = texts(template);
    expect(all.length).toBeLessThanOrEqual(128);
    const seen = new Set(all.flatMap((text) => text.split(",")));
    for (let at = 0; at < 12; at++) expect([seen.has(`a${at}`), seen.has(`b${at}`)]).toEqual([true, true]);
  });

  it("a branch that fails on purpose does not affect the others, but one that always fails is an error", () => {
    expect(texts('{{ if not .args.id }}{{ fail "id is needed" }}{{ end }}x')).toEqual(["x"]);
    expect(() => analyze('x {{ fail "never" }}')).toThrow("never");
    expect(() => analyze("{{ if prod }}{{ .env.nothing }}{{ end }}x")).not.toThrow();
    expect(() => analyze("{{ if dev }}{{ .env.nothing }}{{ end }}x")).toThrow(".env.nothing has no value");
  });
});

describe("the names in a template", () => {
  it("refs of all branches, with their place", () => {
    const text =
      '{{ if prod }}{{ ref "a" }}{{ end }}{{ dependency "model" "b" }}{{ (lookup "c").state }}{{ ref .env.mode }}{{ "d" | ref }}';
    expect(analyze(text).refs).toEqual([
      { name: "a", offset: text.indexOf('"a"') },
      { kind: "model", name: "b", offset: text.indexOf('"b"') },
      { name: "c", offset: text.indexOf('"c"') },
      { name: "full", offset: 0 },
      { name: "d", offset: 0 },
    ]);
  });

  it("variables, also those in conditions and definitions", () => {
    const text =
      '{{ if .env.a }}{{ end }}{{ define "x" }}{{ $.vars.b.c }}{{ end }}{{ env "limit" }}{{ (upper (.env.mode)) }}';
    expect(analyze(text).variables).toEqual(["a", "b.c", "limit", "mode"]);
  });

  it("settings", () => {
    expect(analyze('{{ configure "a" true }}{{ configure "b: c" }}').configured.map(({ values }) => values)).toEqual([
      ["a", true],
      ["b: c"],
    ]);
  });
});
