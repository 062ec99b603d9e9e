import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, stringify } from "yaml";
import { FIXTURES, ProjectFolder } from "./project-folder.js";

/** One file of table-driven cases: a project, and questions with their answers. */
export interface CaseFile {
  readonly project_files: Readonly<Record<string, unknown>>;
  /** Where a file of data goes, and where it comes from. */
  readonly data_files?: Readonly<Record<string, string>>;
  readonly tests: readonly Case[];
}

export interface Case {
  readonly name: string;
  readonly resolver: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly user_attributes?: Readonly<Record<string, unknown>>;
  readonly result?: readonly Readonly<Record<string, unknown>>[];
  readonly result_csv?: string;
  readonly error_contains?: string;
}

export function readCaseFile(path: string): CaseFile {
  return parse(readFileSync(path, "utf8")) as CaseFile;
}

/** Writes the project of a case file. Data comes from the fixtures, by the name of the file. */
export function caseProject({ project_files, data_files = {} }: CaseFile): ProjectFolder {
  const texts = Object.entries(project_files).map(([path, content]) => [
    path,
    typeof content === "string" ? content : stringify(content),
  ]);
  const project = ProjectFolder.with(Object.fromEntries(texts) as Record<string, string>);
  for (const [path, from] of Object.entries(data_files)) project.copy(join(FIXTURES, "data", basename(from)), path);
  return project;
}

/** What the command line answers to a case. */
export async function ask(
  project: ProjectFolder,
  { resolver, properties, user_attributes }: Case,
): Promise<{ readonly rows?: readonly Readonly<Record<string, unknown>>[]; readonly error?: string }> {
  const user = user_attributes ? ["--user", JSON.stringify(user_attributes)] : [];
  const args = ["--resolver", resolver, "--properties", JSON.stringify(properties), ...user, "-o", "json"];
  const { code, out, err } = await project.say("query", args);
  return code === 0 ? { rows: JSON.parse(out) as readonly Readonly<Record<string, unknown>>[] } : { error: err };
}
