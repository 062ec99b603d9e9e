import { describe, expect, it } from "vitest";
import { decodeContinue, encodeContinue } from "./continue-token.js";

describe("continue tokens", () => {
  it("have the same form as in the real server", () => {
    const token = encodeContinue({ revision: 408, start: "c2\u0000" });
    expect(token).toBe("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDA4LCJzdGFydCI6Ii9jMlx1MDAwMCJ9");
    expect(decodeContinue(token)).toEqual({ revision: 408, start: "c2\u0000" });
  });

  it.each([
    ["abc", "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value"],
    ["x", "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"],
    [
      "nope",
      "invalid continue token: continue key is not valid: invalid character '\\u009e' looking for beginning of value",
    ],
    ["e30", "invalid continue token: continue key is not valid: server does not recognize this encoded version "],
    [
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MH0",
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ],
  ])("%s is refused", (token, message) => {
    expect(() => decodeContinue(token)).toThrow(message);
  });

  it("cannot leave their resource", () => {
    const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"/../secrets/a"}').toString("base64url");
    expect(() => decodeContinue(token)).toThrow("continue key is not valid");
  });
});
