import { describe, expect, it } from "vitest";
import { indexesIn, sharedIndex } from "./job-indexes.js";

describe("the indexes of a job", () => {
  it("are counted, one by one and by range", () => {
    expect(indexesIn("", 5)).toEqual({ total: 0 });
    expect(indexesIn("0,2-4", 5)).toEqual({ total: 4 });
  });

  it("are ascending, and below the completions", () => {
    expect(indexesIn("3,1", 5).complaint).toBe("non-increasing order, previous: 3, current: 1");
    expect(indexesIn("3-3", 5).complaint).toBe("non-increasing order, previous: 3, current: 3");
    expect(indexesIn("1-7", 5).complaint).toBe('too large index: "7"');
    expect(indexesIn("a", 5).complaint).toBe('cannot convert string to integer for index: "a"');
    expect(indexesIn("1-2-3", 5).complaint).toContain('the fragment "1-2-3" violates');
  });

  it("are completed or failed, not both", () => {
    expect(sharedIndex("0,2-4", "1,5", 9)).toBeUndefined();
    expect(sharedIndex("0,2-4", "3", 9)).toBe(3);
  });
});
