import { describe, expect, it } from "vitest";
import { visible, visibleLines } from "./visible.js";

describe("foreign text", () => {
  it("cannot control a terminal", () => {
    expect(visible("\x1b]0;owned\x07\x9b2J\r\n\t\x7f")).toBe("\\x1b]0;owned\\x07\\x9b2J\\r\\n\\t\\x7f");
    expect(visible("safe\u202eexe.txt")).toBe("safe\\u202eexe.txt");
    expect(visible("Grüße, 世界 🎉")).toBe("Grüße, 世界 🎉");
  });

  it("keeps its line breaks if it may have some", () => {
    expect(visibleLines("a: 1\nb: \x1b[2J\r\n")).toBe("a: 1\nb: \\x1b[2J\\r\n");
  });
});
