import { describe, expect, it } from "vitest";
import { isSetpointError, SetpointError } from "./error.js";

describe("SetpointError", () => {
  it("carries its code, its message and its cause", () => {
    const cause = new Error("socket hang up");
    const error = new SetpointError("TRANSPORT_BROKEN", "the connection ended", { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "SetpointError",
      code: "TRANSPORT_BROKEN",
      message: "the connection ended",
      cause,
    });
  });

  it("is recognised by its code, including subclasses", () => {
    class ApiError extends SetpointError {}
    const error: unknown = new ApiError("API_NOT_FOUND", 'pods "a" not found');
    expect(isSetpointError(error)).toBe(true);
    expect(isSetpointError(error, "API_NOT_FOUND")).toBe(true);
    expect(isSetpointError(error, "API_CONFLICT")).toBe(false);
    expect(isSetpointError(new Error("API_NOT_FOUND"), "API_NOT_FOUND")).toBe(false);
    expect(isSetpointError(undefined)).toBe(false);
  });
});
