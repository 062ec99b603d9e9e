import { describe, expect, it } from "vitest";
import { renderTemplate } from "./go-template.js";

describe("renderTemplate", () => {
  it("reads fields and calls functions by own names only", () => {
    const data = { metadata: { labels: { toString: "mine" } } };
    const functions = { Quote: (value: unknown) => JSON.stringify(value) };
    expect(renderTemplate("{{ Quote .metadata.labels.toString }}", data, functions)).toBe('"mine"');
    expect(renderTemplate("{{ if .metadata.constructor }}yes{{ else }}no{{ end }}", data, functions)).toBe("no");
    expect(() => renderTemplate("{{ constructor }}", data, functions)).toThrow(
      "the template calls the unknown function constructor",
    );
  });
});
