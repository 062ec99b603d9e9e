import { describe, expect, it } from "vitest";
import { sourceText } from "../project/source-text.js";
import { renderText, type TemplateData } from "./render-text.js";

const DATA: TemplateData = {
  environment: "dev",
  variables: { limit: "10", "db.host": "localhost", empty: "" },
  incremental: true,
  state: { max: "2024-01-02", tags: ["a", "b"] },
  partition: { id: 7, name: "o'clock" },
  user: { email: "ada@example.com", admin: false },
  args: { ids: [1, 2], who: ["x", "y's"] },
  now: new Date("2024-02-03T14:05:06Z"),
};
const render = (text: string, data: TemplateData = DATA) => renderText(sourceText("m.sql", text), data).text;

describe("rendering like Go", () => {
  it.each([
    ["SELECT 1", "SELECT 1"],
    ["LIMIT {{ .env.limit }}", "LIMIT 10"],
    ['{{ .vars.limit }} {{ .env.db.host }} {{ env "LIMIT" }}', "10 localhost 10"],
    ["{{ .partition.id }} {{ .state.max }} {{ .user.email }}", "7 2024-01-02 ada@example.com"],
    ['FROM {{ ref "orders" }} {{ ref "model" "a\\"b" }}', 'FROM "orders" "a""b"'],
    ['a{{ dependency "x" }}b{{ configure "materialize: true" }}', "ab"],
    ["{{ if dev }}d{{ else }}p{{ end }}", "d"],
    ["{{ if prod }}p{{ else if incremental }}i{{ else }}e{{ end }}", "i"],
    ["{{ if and dev .env.empty }}x{{ else if or .env.empty .user.admin (eq 1 1) }}y{{ end }}", "y"],
    ["{{ if not .user.admin }}n{{ end }}{{ if .env.nothing }}x{{ end }}", "n"],
    ["{{ range $i, $t := .state.tags }}{{ if $i }}, {{ end }}{{ $t }}{{ end }}", "a, b"],
    [
      "{{ range .state.tags }}<{{ . }}>{{ else }}none{{ end }}{{ range .state.none }}x{{ else }}none{{ end }}",
      "<a><b>none",
    ],
    ['{{ range $k, $v := dict "b" 2 "a" 1 }}{{ $k }}={{ $v }};{{ end }}', "a=1;b=2;"],
    [
      "{{ range until 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}",
      "02",
    ],
    [
      "{{ with .partition }}{{ .id }}{{ $.environment }}{{ else }}x{{ end }}{{ with .nothing }}x{{ else }}y{{ end }}",
      "7devy",
    ],
    ["{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ end }}{{ $x }}", "2"],
    ["a {{- 1 -}} b {{- /* note }} */ -}} c", "a1bc"],
    ["a {{ /* note */ }}b", "a b"],
    ['{{ "a\\tb" }}{{ `c"` }}{{ \'x\' }}{{ -1.5 }}{{ 0x10 }}', 'a\tbc"120-1.516'],
    [
      '{{ define "cols" }}a, {{ . }}{{ end }}SELECT {{ template "cols" "b" }}{{ block "c" 3 }}-{{ . }}{{ end }}',
      "SELECT a, b-3",
    ],
    [
      '{{ eq 2 1 2 }} {{ ne 1 2 }} {{ lt 1 2 }} {{ le 2 2 }} {{ gt "b" "a" }} {{ ge 1 2 }}',
      "true true true true true false",
    ],
    [
      '{{ len .state.tags }} {{ index .state.tags 1 }} {{ index .partition "id" }} {{ (index .args.ids 0) }}',
      "2 b 7 1",
    ],
    ['{{ printf "%s-%03d-%.2f-%q-%v-%%" "a" 7 1.5 "b" .state.tags }}', 'a-007-1.50-"b"-[a b]-%'],
    ["{{ .args.who | as_sql_list }} {{ as_sql_list .args.ids }} {{ as_sql_list .nothing }}", "('x', 'y''s') (1, 2) ()"],
    ['{{ .env.nothing | default "x" | upper | quote }}', '"X"'],
    ['{{ list 1 2 3 | join "," }} {{ splitList "," "a,b" | last }} {{ (split "," "a,b")._1 }}', "1,2,3 b b"],
    ['{{ trim "  a " }}{{ replace "a" "b" "aa" }}{{ squote "x" }}{{ ternary 1 2 dev }}', "abb'x'1"],
    ['{{ toJson (dict "a" (list 1 "b")) }} {{ (fromJson "{\\"a\\":1}").a }}', '{"a":[1,"b"]} 1'],
    ["{{ add 1 2 3 }} {{ sub 5 2 }} {{ div 7 2 }} {{ mod 7 2 }} {{ max 1 3 }}", "6 3 3 1 3"],
    ['{{ now | date "2006-01-02 15:04:05 Mon Jan" }}', "2024-02-03 14:05:06 Sat Feb"],
    ['{{ dateInZone "2006-01-02T15:04:05Z07:00" now "Asia/Kolkata" }}', "2024-02-03T19:35:06+05:30"],
    ['{{ now | dateModify "-36h" | date "Jan _2 3:04PM" }}', "Feb  2 2:05AM"],
    ['{{ snakecase "FooBar" }} {{ "abc" | trunc 2 }} {{ regexReplaceAll "b+" "abbc" "-" }}', "foo_bar ab a-c"],
  ])("%s", (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  it("has dev and prod only in those environments", () => {
    expect(render("{{ dev }} {{ prod }} {{ .environment }}", { ...DATA, environment: "prod" })).toBe("false true prod");
  });
});

describe("an invalid template is reported with its place", () => {
  it.each([
    ["SELECT {{ .env.x", "1:8: an action is not closed: }} is missing"],
    ["a\n  {{ if dev }}b", "2:3: a block is not closed: {{ end }} is missing"],
    ["a\n{{ end }}", "2:1: {{ end }} belongs to no block"],
    ["{{ if dev }}{{ else }}{{ else }}{{ end }}", "1:25: a block has two {{ else }}"],
    ["x {{ nonsense 1 }}", "1:6: there is no function nonsense"],
    ["x {{ $y }}", "1:6: there is no variable $y"],
    ["x {{ .env.nothing }}", "1:6: .env.nothing has no value"],
    ['x {{ env "nothing" }}', "1:6: env: the variable nothing is not set: add it to .env or to the project file"],
    ["x {{ }}", "1:6: an action lacks its value"],
    ['x {{ "abc }}', "1:6: a text is not closed"],
    ["x {{ (eq 1 1 }}", "1:6: a parenthesis is not closed"],
    ["x {{ 1 ] }}", '1:8: unexpected character "]" in an action'],
    ["x {{ ref }}", "1:6: ref: needs a name, or a kind and a name"],
    ['x {{ lt 1 "a" }}', "1:6: lt: cannot compare a number with a text"],
    ['x {{ fail "no" }}', "1:6: fail: no"],
    ["x {{ .environment.x }}", "1:6: .x: a string has no fields"],
    ['x {{ template "t" }}', '1:3: no template "t" is defined'],
    [
      '{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ template "a" }}{{ end }}',
      "1:60: circular templates: a → b → a",
    ],
    ['{{ define "a" }}x{{ template "a" }}{{ end }}{{ template "a" }}', "1:18: circular templates: a → a"],
  ])("%s", (template, message) => {
    expect(() => render(template)).toThrow(`m.sql:${message}`);
  });

  it("the length of the result is limited", () => {
    expect(() => render('{{ range until 100000 }}{{ repeat 1000 "x" }}{{ end }}')).toThrow("longer than 4000000");
  });

  it("properties of the prototype are no fields", () => {
    expect(() => render("{{ .env.constructor }}")).toThrow("has no value");
  });
});

describe("places of rendered text", () => {
  it("verbatim text maps to itself, printed text to its action", () => {
    const source = sourceText("m.sql", "SELECT\n  {{ .state.max }} AS a,\n  {{- if dev }}\n  b\n{{ end }}\nFROM x");
    const rendered = renderText(source, DATA);
    const at = (part: string) => rendered.placeOf(rendered.text.indexOf(part));
    expect(at("2024")).toEqual({ path: "m.sql", line: 2, column: 3 });
    expect(at("24-01")).toEqual({ path: "m.sql", line: 2, column: 3 });
    expect(at("AS a")).toEqual({ path: "m.sql", line: 2, column: 20 });
    expect(at("b")).toEqual({ path: "m.sql", line: 4, column: 3 });
    expect(at("FROM")).toEqual({ path: "m.sql", line: 6, column: 1 });
  });
});
