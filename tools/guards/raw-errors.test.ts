import { expect, it } from "vitest";
import { isProduct, packages, withoutComments } from "./sources.js";

it("the product throws errors with registered codes: no raw `throw new Error`", () => {
  const found = packages().flatMap(({ sources }) =>
    sources
      .filter(({ path }) => isProduct(path))
      .flatMap(({ path, text }) => {
        const count = withoutComments(text).match(/\bthrow (?:new )?Error\(/g)?.length ?? 0;
        return count > 0 ? [`${path}: ${count}`] : [];
      }),
  );
  expect(found).toEqual([]);
});
