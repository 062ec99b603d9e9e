import type { ResourceName } from "setpoint/graph";
import { resourceKey } from "setpoint/graph";
import { type Declaration, type FileKind, type NamedRef, typeKey } from "./file-kind.js";
import type { DeclaredResource, Project, UnrunFile } from "./project.js";
import type { Place, Problem } from "./source-text.js";
import { didYouMean } from "./suggestion.js";

/** The files of one resource, as far as they could be parsed. */
export interface ParsedFile {
  readonly paths: readonly string[];
  readonly kind: FileKind;
  readonly name: string;
  readonly place: Place;
  readonly tags: readonly string[];
  /** Undefined if the file is broken, or of a kind that is not run. */
  readonly declaration?: Declaration;
  readonly problems: readonly Problem[];
}

export type ResolvedFiles = Pick<Project, "resources" | "broken" | "unrun" | "problems">;

const SYSTEM_TABLE = /^(duckdb_|pg_|sqlite_)/i;

/** Gives each name to the first file that claims it, and resolves refs and tables to resources. Pure. */
export function resolvedFiles(files: readonly ParsedFile[], kinds: readonly FileKind[]): ResolvedFiles {
  const names = new Names(files);
  const resources: DeclaredResource[] = [];
  const broken: { name: ResourceName; problem: Problem }[] = [];
  const unrun: UnrunFile[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const { kind, name, paths, declaration } = file;
    const resource = { kind: kind.kind, name };
    problems.push(...file.problems);
    if (!kind.parse) {
      unrun.push({ path: paths[0]!, kind: kind.kind, name });
      continue;
    }
    const winner = names.winnerOf(resource)!;
    if (winner !== file) {
      const message = `the name ${name} is taken by ${winner.paths[0]}`;
      problems.push({ severity: "error", message, place: file.place, external: true });
      continue;
    }
    const fault = file.problems.find(({ severity }) => severity === "error");
    if (!declaration) {
      broken.push({ name: resource, problem: fault ?? { severity: "error", message: "the file cannot be used" } });
      continue;
    }
    const resolved = names.refsOf(declaration, kinds);
    problems.push(...(declaration.warnings ?? []), ...resolved.problems);
    const unresolved = resolved.problems.find(({ severity }) => severity === "error");
    if (unresolved) broken.push({ name: resource, problem: unresolved });
    else resources.push({ name: resource, refs: resolved.refs, paths, tags: file.tags, spec: declaration.spec });
  }
  return { resources, broken, unrun, problems };
}

class Names {
  readonly #byKey = new Map<string, ParsedFile>();
  /** Models by the name of their table. */
  readonly #byTable = new Map<string, ResourceName>();

  constructor(files: readonly ParsedFile[]) {
    for (const file of files) {
      const key = resourceKey({ kind: file.kind.kind, name: file.name });
      if (!this.#byKey.has(key)) this.#byKey.set(key, file);
    }
    for (const { kind, name, declaration } of this.#byKey.values())
      if (declaration?.tableName) this.#byTable.set(declaration.tableName.toLowerCase(), { kind: kind.kind, name });
  }

  winnerOf({ kind, name }: ResourceName): ParsedFile | undefined {
    return this.#byKey.get(resourceKey({ kind, name }));
  }

  refsOf(declaration: Declaration, kinds: readonly FileKind[]) {
    const refs = new Map<string, ResourceName>();
    const problems: Problem[] = [];
    const add = (file: ParsedFile) => {
      if (file.kind.parse)
        refs.set(resourceKey({ kind: file.kind.kind, name: file.name }), { kind: file.kind.kind, name: file.name });
    };
    const missing = new Set<string>();
    for (const ref of declaration.refs ?? []) {
      const found = this.#named(ref, kinds);
      if (found) add(found);
      else if (!ref.isOptional) {
        missing.add(ref.name.toLowerCase());
        problems.push(this.#missing(ref, kinds));
      }
    }
    for (const { name, place } of declaration.tables ?? []) {
      const resource = this.#byTable.get(name.toLowerCase()) ?? { kind: "Model", name };
      const found = this.winnerOf(resource);
      if (found) add(found);
      else if (!SYSTEM_TABLE.test(name) && !missing.has(name.toLowerCase())) {
        const message = `no model is called ${name}${didYouMean(name, this.#namesOf("Model"))}`;
        problems.push({ severity: "warning", message, place });
      }
    }
    const sorted = [...refs].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, ref]) => ref);
    return { refs: sorted, problems };
  }

  #named({ name, type }: NamedRef, kinds: readonly FileKind[]): ParsedFile | undefined {
    if (type !== undefined) {
      const kind = kindOf(type, kinds);
      return kind === undefined ? undefined : this.winnerOf({ kind, name });
    }
    const all = ["Model", ...kinds.map(({ kind }) => kind)];
    return all.map((kind) => this.winnerOf({ kind, name })).find((file) => file !== undefined);
  }

  #missing({ name, type, place }: NamedRef, kinds: readonly FileKind[]): Problem {
    const kind = type === undefined ? undefined : kindOf(type, kinds);
    const types = kinds.map((one) => one.type);
    const message =
      type !== undefined && kind === undefined
        ? `there is no type ${type}${didYouMean(type, types)}`
        : `there is no ${type ?? "resource"} called ${name}${didYouMean(name, this.#namesOf(kind))}`;
    return { severity: "error", message, place };
  }

  #namesOf(kind: string | undefined): readonly string[] {
    const files = [...this.#byKey.values()].filter((file) => kind === undefined || file.kind.kind === kind);
    return [...new Set(files.map(({ name }) => name))];
  }
}

function kindOf(type: string, kinds: readonly FileKind[]): string | undefined {
  return kinds.find((kind) => typeKey(kind.type) === typeKey(type))?.kind;
}
