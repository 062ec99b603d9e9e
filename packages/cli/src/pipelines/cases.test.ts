import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type CaseFile, caseProject, readCaseFile } from "./testing/case-file.js";
import { FIXTURES, hasFixtures, type ProjectFolder } from "./testing/project-folder.js";

const folder = join(FIXTURES, "cases");
const files = hasFixtures && existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];

/** Models of a case that need an unsupported engine. */
const elsewhere = ({ project_files }: CaseFile): readonly string[] =>
  Object.entries(project_files)
    .filter(([, content]) => (content as { readonly connector?: string } | null)?.connector === "clickhouse")
    .map(([path]) => path.replace(/\.yaml$/, ""))
    .sort();

describe.skipIf(files.length === 0)("case files (skipped where the reference material is absent)", () => {
  describe.each(files)("%s", (name) => {
    const file: CaseFile = readCaseFile(join(folder, name));
    let project: ProjectFolder;

    beforeAll(async () => {
      project = caseProject(file);
      const { failed, err } = await project.run();
      expect(failed, err).toEqual(elsewhere(file));
    });
    afterAll(() => project[Symbol.dispose]());

    it.each(file.tests.filter(({ resolver }) => resolver === "sql"))("$name", async (one) => {
      const { rows, error } = await ask(project, one);
      if (one.error_contains !== undefined) expect(error).toContain(one.error_contains);
      else expect(rows, error).toEqual(one.result ?? []);
    });

    it("reports that other resolvers are not supported yet", async () => {
      const later = file.tests.find(({ resolver }) => resolver !== "sql");
      if (!later) return;
      expect((await ask(project, later)).error).toContain(`the resolver ${later.resolver} is not supported yet`);
    });
  });
});
