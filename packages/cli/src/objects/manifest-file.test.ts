import { expect, it } from "vitest";
import { parseManifests } from "./manifest-file.js";

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

it("parses scalars as Kubernetes' own tools do", () => {
  const text =
    "a: yes\nb: y\nc: off\nd: 0644\ne: 0o17\nf: 1:30\ng: 2020-01-01\nh: 0b11\ni: 1_000\nj: ~\nk: 0x1f\nm: 1e3\n1: x\n";
  expect(parseManifests(head + text, "f")[0]!.object).toMatchObject({
    ...{
      a: true,
      b: true,
      c: false,
      d: 420,
      e: 15,
      f: "1:30",
      g: "2020-01-01",
      h: 3,
      i: 1000,
      j: null,
      k: 31,
      m: 1000,
    },
    1: "x",
  });
});

it("follows anchors and merges", () => {
  const { object } = parseManifests(`${head}base: &b {q: 1}\nmore: {<<: *b, r: 2}\n`, "f")[0]!;
  expect(object.more).toEqual({ q: 1, r: 2 });
});

it("skips empty documents but counts them", () => {
  expect(parseManifests(`---\n---\n${head}`, "f.yaml").map(({ place }) => place)).toEqual(["f.yaml, document 2"]);
  expect(() => parseManifests(`${head}---\n\n---\nkind: A\n`, "f.yaml")).toThrow("f.yaml, document 3: apiVersion");
});
