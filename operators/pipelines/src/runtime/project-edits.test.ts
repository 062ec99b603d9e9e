import type { GraphResource } from "setpoint/graph";
import { describe, expect, it } from "vitest";
import type { DeclaredResource, Project } from "../project/project.js";
import { PROJECT_OWNER, projectEdits } from "./project-edits.js";

const model = (name: string, spec: object = { sql: name }): DeclaredResource => ({
  name: { kind: "Model", name },
  refs: [],
  paths: [`${name}.sql`],
  tags: [],
  spec,
});

const known = (name: string, spec: object = { sql: name }, owner = PROJECT_OWNER): GraphResource =>
  ({ meta: { name: { kind: "Model", name }, owner }, spec }) as unknown as GraphResource;

const project = (resources: readonly DeclaredResource[], broken: readonly string[] = []): Project =>
  ({
    resources,
    broken: broken.map((name) => ({
      name: { kind: "Model", name },
      problem: { severity: "error", message: "no" },
    })),
  }) as unknown as Project;

const named = (name: string) => ({ kind: "Model", name });

describe("the edits for a changed project", () => {
  it("are one delete, one rename and one create for three files that changed at once [5]", () => {
    const edits = projectEdits(project([model("foo_two", { sql: "foo" }), model("bazz")]), [
      known("bar"),
      known("foo"),
    ]);
    expect(edits.deletes).toEqual([named("bar")]);
    expect(edits.renames).toEqual([{ from: named("foo"), to: named("foo_two") }]);
    expect(edits.creates.map(({ name }) => name.name)).toEqual(["bazz"]);
  });

  it("leave a resource alone if its file is broken [2, 6]", () => {
    const edits = projectEdits(project([], ["foo"]), [known("foo")]);
    expect(edits).toEqual({ creates: [], updates: [], renames: [], deletes: [] });
  });

  it("never touch resources that the files did not create", () => {
    const edits = projectEdits(project([]), [known("foo", {}, { kind: "Other", name: "one" })]);
    expect(edits.deletes).toEqual([]);
  });

  it("treat a change of case as a rename [10]", () => {
    const edits = projectEdits(project([model("Bar_New", { sql: "x" })]), [known("bar_new", { sql: "x" })]);
    expect(edits.renames).toEqual([{ from: named("bar_new"), to: named("Bar_New") }]);
    expect(edits.creates).toEqual([]);
    expect(edits.deletes).toEqual([]);
  });

  it("pair a chain of renames, so that nothing is rebuilt [12]", () => {
    const edits = projectEdits(project([model("bar2", { sql: "1" }), model("bar3", { sql: "2" })]), [
      known("bar1", { sql: "1" }),
      known("bar2", { sql: "2" }),
    ]);
    expect(edits.renames).toEqual([
      { from: named("bar1"), to: named("bar2") },
      { from: named("bar2"), to: named("bar3") },
    ]);
    expect(edits).toMatchObject({ creates: [], deletes: [] });
  });

  it("exchange the names of two files whose contents were exchanged", () => {
    const edits = projectEdits(project([model("a", { sql: "b" }), model("b", { sql: "a" })]), [known("a"), known("b")]);
    expect(edits.renames).toHaveLength(2);
    expect(edits).toMatchObject({ creates: [], deletes: [] });
  });

  it("do not take a name from a resource that keeps it", () => {
    const edits = projectEdits(project([model("b", { sql: "a" })]), [known("a"), known("b")]);
    expect(edits).toMatchObject({ renames: [], deletes: [named("a")], creates: [] });
    expect(edits.updates.map(({ name }) => name.name)).toEqual(["b"]);
  });

  it("recognise a file by its content although its table name and places differ", () => {
    const spec = (name: string) => ({ sql: { text: "SELECT 1", path: `${name}.sql` }, table: name, specHash: "h" });
    const edits = projectEdits(project([model("b", spec("b"))]), [known("a", spec("a"))]);
    expect(edits.renames).toEqual([{ from: named("a"), to: named("b") }]);
  });

  it("recognise a file that was moved unchanged by its text, although it refers to its old table", () => {
    const spec = (specHash: string) => ({ specHash, textHash: "t" });
    const edits = projectEdits(project([model("b", spec("of b"))]), [known("a", spec("of a"))]);
    expect(edits).toMatchObject({ renames: [{ from: named("a"), to: named("b") }], creates: [], deletes: [] });
  });
});
