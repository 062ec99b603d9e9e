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
    ['{{include "a/b" | printf "%s-%d" "x" 1 }}', "x-1"],
    ['{{include (printf "%s/%s" .Name "k")}}', "<n/k>"],
    ["{{index .List 1}} {{.List}}", "b [a b]"],
    ["{{$x := .Name}}{{$x}}{{$.Name}}", "nn"],
  ])("%s", (source, expected) => expect(run(source)).toBe(expected));

  it.each([
    ["{{.Missing}}", "can't evaluate field Missing"],
    ["{{if .Name}}", "has no {{end}}"],
    ["{{nope}}", 'function "nope" not defined'],
    ["{{", "unclosed action"],
  ])("%s is refused", (source, message) => {
    expect(() => run(source)).toThrow(message);
  });
});
