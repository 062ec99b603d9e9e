import { describe, expect, it } from "vitest";
import { executeTemplate } from "./go-template.js";

describe("templates of system messages", () => {
  const run = (source: string) =>
    executeTemplate(source, { Name: "n", List: ["a", "b"], Empty: [] }, { include: (path) => `<${path}>` });
  it.each([
    ["{{.Name}} {{- /* gone */ -}} !", "n!"],
    ["{{range $i, $e := .List}}{{if $i}}, {{end}}{{$e}}{{end}}", "a, b"],
    ["{{range .Empty}}x{{else}}none{{end}}", "none"],
    ["{{with .List}}{{len .}}{{end}}", "2"],
    ['{{if eq .Name "n"}}yes{{else if .Empty}}no{{else}}other{{end}}', "yes"],
    ['{{include "a/b" | printf "%s-%d" "x" 1 }}', "x-1%!(EXTRA string=<a/b>)"],
    ['{{include (printf "%s/%s" .Name "k")}}', "<n/k>"],
    ["{{index .List 1}} {{.List}}", "b [a b]"],
    ["{{$x := .Name}}{{$x}}{{$.Name}}", "nn"],
    ['{{"}}"}}{{`{{`}}', "}}{{"],
    ["{{/* a }} in a comment */}}x{{- /* b */ -}} y", "xy"],
    ["{{with $l := .List}}{{index $l 0}}{{else}}-{{end}}{{with .Empty}}x{{else with .Name}}{{.}}{{end}}", "an"],
    ["{{range .List}}{{range $.List}}{{.}}{{end}};{{end}}", "ab;ab;"],
    ['{{print 1 2 "x" true}} {{println "a" 1}}', "1 2xtrue a 1\n"],
    [
      "{{and .Name .Empty}} {{or .Empty .Name}} {{not .Empty}} {{ne 1 2}} {{le 1 1}} {{gt 1 2}}",
      "[] n true true true false",
    ],
    ['{{printf "%q %d%% %v %s" "a" 3 .List}}', '"a" 3% [a b] %!s(MISSING)'],
    ["{{(index .List 0) | len}}", "1"],
  ])("%s", (source, expected) => expect(run(source)).toBe(expected));

  it.each([
    ["{{.Missing}}", "can't evaluate field Missing"],
    ["{{if .Name}}", "has no {{end}}"],
    ["{{nope}}", 'function "nope" not defined'],
    ["{{", "unclosed action"],
    ['{{"a}}', "unterminated quoted text"],
    ["{{end}}", "unexpected {{end}}"],
    ["{{.Name .Name}}", "only a function takes arguments"],
    ["{{$x}}", 'undefined variable "$x"'],
    ["{{index .List 2}}", "index out of range"],
    ['{{template "x"}}', "{{template}} is not known"],
    ["{{(.Name}}", "unclosed parenthesis"],
  ])("%s is refused", (source, message) => {
    expect(() => run(source)).toThrow(message);
  });
});
