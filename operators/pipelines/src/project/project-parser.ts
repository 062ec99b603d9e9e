import type { Engine } from "../engine/engine.js";
import { connectorFile, impliedConnectors } from "./connector-file.js";
import { DataFiles, globPattern, isGlob } from "./data-files.js";
import { type FoundFile, fileAt, findFiles, isFolder, isProjectPath, PROJECT_FILES, readText } from "./discovery.js";
import { envFile } from "./env-file.js";
import type { Declaration, FileContext, FileKind } from "./file-kind.js";
import { modelFile, sourceFile } from "./model-file.js";
import { type ParsedFile, resolvedFiles } from "./name-resolution.js";
import { ProblemError } from "./problem-error.js";
import type { Project, ProjectSettings } from "./project.js";
import { type ProjectFileSettings, projectFileSettings } from "./project-settings.js";
import {
  type FileRules,
  type FileTexts,
  kindByPath,
  nameByPath,
  type ResourceFile,
  resourceFile,
} from "./resource-file.js";
import { textAt } from "./setting.js";
import type { Problem } from "./source-text.js";
import { analyzeSql, analyzeText } from "./sql-analysis.js";
import { StatementBatch } from "./statement-batch.js";
import { unrunFiles } from "./unrun-files.js";

export interface ProjectParserOptions {
  /** Absolute path of the project's folder. */
  readonly folder: string;
  /** `dev` by default. */
  readonly environment?: string;
  /** Variables that take precedence over those of all files. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly engine: Pick<Engine, "parse">;
  /** Types of files besides Rill's own. */
  readonly kinds?: readonly FileKind[];
}

/** How much work the passes have done so far. */
export interface ParserWork {
  readonly filesRead: number;
  readonly resourcesParsed: number;
  readonly statementsParsed: number;
  readonly dataFilesRead: number;
}

interface KnownFile {
  readonly found: FoundFile;
  readonly text: string | Problem;
}

/** The files of one resource, kept between passes. */
interface Stem {
  readonly texts: FileTexts | Problem;
  readonly paths: readonly string[];
  /** The result of the last parse; undefined if it has to be parsed. */
  readonly parsed?: ParsedFile;
}

interface Configuration {
  readonly file: ProjectFileSettings;
  readonly settings: ProjectSettings;
  /** Drivers by the name of their connector. */
  readonly drivers: ReadonlyMap<string, string>;
  /** Names of the connectors that set the `path` of their database. */
  readonly databases: ReadonlySet<string>;
}

const RILL_KINDS: readonly FileKind[] = [modelFile, sourceFile, connectorFile, ...unrunFiles];

/**
 * Parses the files of a project. A later pass reads and parses only what has changed since. A broken file affects only
 * itself. Calls may overlap; the passes run one after the other.
 */
export class ProjectParser {
  readonly #folder: string;
  readonly #environment: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #kinds: readonly FileKind[];
  readonly #statements: StatementBatch;
  readonly #data: DataFiles;
  readonly #files = new Map<string, KnownFile>();
  readonly #stems = new Map<string, Stem>();
  /** The kind and name of each file when it was last valid, so that a broken file keeps its name. */
  readonly #lastNames = new Map<string, { readonly kind: FileKind; readonly name: string }>();
  /** The variables of each `.env` file when it was last valid. A broken file does not break its users. */
  readonly #lastVariables = new Map<string, Readonly<Record<string, string>>>();
  readonly #fingerprints = new Map<string, string>();
  #configuration: Configuration | undefined;
  /** The input of the last configuration, to detect changes. */
  #configured = "";
  #scanProblems: readonly Problem[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #filesRead = 0;
  #resourcesParsed = 0;
  #statementsParsed = 0;

  constructor({ folder, environment = "dev", variables = {}, engine, kinds = [] }: ProjectParserOptions) {
    this.#folder = folder;
    this.#environment = environment;
    this.#variables = variables;
    this.#kinds = [...RILL_KINDS.filter(({ type }) => !kinds.some((kind) => kind.type === type)), ...kinds];
    this.#data = new DataFiles(folder);
    this.#statements = new StatementBatch({
      parse: (statements) => {
        this.#statementsParsed += statements.length;
        return engine.parse(statements);
      },
    });
  }

  get work(): ParserWork {
    return {
      filesRead: this.#filesRead,
      resourcesParsed: this.#resourcesParsed,
      statementsParsed: this.#statementsParsed,
      dataFilesRead: this.#data.reads,
    };
  }

  /**
   * Parses all files, or only the named ones: paths relative to the folder, of files that were changed, created or
   * deleted, including data files.
   */
  parse(changed?: readonly string[]): Promise<Project> {
    const pass = this.#tail.then(() => this.#pass(changed));
    this.#tail = pass.catch(() => undefined);
    return pass;
  }

  async #pass(changed: readonly string[] | undefined): Promise<Project> {
    const isFull = changed === undefined || (await this.#namesFolder(changed));
    this.#statements.beginPass(isFull);
    await (isFull ? this.#scan() : this.#look(changed));
    const configuration = this.#configure();
    if (!configuration.usable) {
      const settings = this.#configuration?.settings ?? this.#settingsOf(undefined, {});
      const { problems } = configuration;
      return { settings, isFrozen: true, resources: [], broken: [], unrun: [], problems };
    }
    this.#group(configuration.usable);
    await this.#lookAtData(isFull ? undefined : changed);
    const usable = this.#connect(configuration.usable);
    await this.#parseStems(usable);
    const files = [...this.#stems.values()].flatMap(({ parsed }) => (parsed ? [parsed] : []));
    files.push(...impliedFiles(usable, files));
    files.sort((left, right) => (left.paths[0]! < right.paths[0]! ? -1 : 1));
    const resolved = resolvedFiles(files, this.#kinds);
    const problems = [...this.#scanProblems, ...configuration.problems, ...resolved.problems];
    return { ...resolved, settings: usable.settings, isFrozen: false, problems: problems.sort(byPlace) };
  }

  /** Whether a path names a new or deleted folder, which stands for all files in it. */
  async #namesFolder(changed: readonly string[]): Promise<boolean> {
    const others = changed.filter((path) => !isProjectPath(path));
    const known = [...this.#files.keys()];
    if (others.some((path) => path === "" || known.some((one) => one.startsWith(`${path}/`)))) return true;
    const found = await Promise.all(others.map((path) => isFolder(this.#folder, path)));
    return found.includes(true);
  }

  async #scan(): Promise<void> {
    const { files, problems } = await findFiles(this.#folder);
    this.#scanProblems = problems;
    const paths = new Set(files.map(({ path }) => path));
    for (const path of [...this.#files.keys()]) if (!paths.has(path)) this.#files.delete(path);
    await Promise.all(files.map((file) => this.#read(file)));
  }

  async #look(changed: readonly string[]): Promise<void> {
    for (const path of changed.filter(isProjectPath)) {
      const found = await fileAt(this.#folder, path);
      if (found) await this.#read(found);
      else this.#files.delete(path);
    }
  }

  async #read(found: FoundFile): Promise<void> {
    const known = this.#files.get(found.path)?.found;
    if (known && known.size === found.size && known.stamp === found.stamp) return;
    this.#filesRead++;
    this.#files.set(found.path, { found, text: await readText(this.#folder, found) });
  }

  /**
   * Reads the project file and the variables. If the project file is broken, the last good configuration stays in
   * force.
   */
  #configure(): { readonly usable?: Configuration; readonly problems: readonly Problem[] } {
    const path = PROJECT_FILES.find((name) => this.#files.has(name));
    if (!path) {
      const message = `there is no project file: create ${PROJECT_FILES[0]} in ${this.#folder}; it may be empty`;
      const place = { path: PROJECT_FILES[0], line: 1, column: 1 };
      return { problems: [{ severity: "error", message, place }] };
    }
    const problems: Problem[] = [];
    let file = this.#configuration?.file;
    try {
      const { text } = this.#files.get(path)!;
      if (typeof text !== "string") throw new ProblemError(text);
      const extra = this.#kinds.flatMap(({ defaults }) => (defaults ? [defaults] : []));
      file = projectFileSettings(path, text, this.#environment, extra);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      problems.push(...error.problems);
      if (!file) return { problems };
      const message = "the project file is broken: its last good version applies until you correct it";
      problems.push({ severity: "warning", message, place: error.problems[0]?.place ?? { path, line: 1, column: 1 } });
    }
    const variables = this.#environmentVariables(file.variables, problems);
    const settings = this.#settingsOf(file, variables);
    const { drivers = new Map(), databases = new Set<string>() } = this.#configuration ?? {};
    return { usable: { file, settings, drivers, databases }, problems };
  }

  #settingsOf(file: ProjectFileSettings | undefined, variables: Readonly<Record<string, string>>): ProjectSettings {
    return {
      ...(file?.displayName !== undefined && { displayName: file.displayName }),
      olapConnector: file?.olapConnector ?? "duckdb",
      environment: this.#environment,
      variables: { ...variables, ...this.#variables },
      ignorePaths: file?.ignorePaths ?? [],
    };
  }

  /**
   * Merges the variables: the project file, then `.env` files from the top down. In each folder the file of the
   * environment comes last.
   */
  #environmentVariables(base: Readonly<Record<string, string>>, problems: Problem[]): Readonly<Record<string, string>> {
    const names = [".env", `.${this.#environment}.env`];
    const depth = (path: string) => path.split("/").length;
    const rank = (path: string) => names.indexOf(path.split("/").at(-1)!);
    const paths = [...this.#files.keys()].filter((path) => rank(path) >= 0);
    paths.sort((a, b) => depth(a) - depth(b) || folderOf(a).localeCompare(folderOf(b)) || rank(a) - rank(b));
    let variables = base;
    for (const path of paths) {
      const { text } = this.#files.get(path)!;
      if (typeof text !== "string") problems.push(text);
      else {
        try {
          this.#lastVariables.set(path, envFile(path, text, variables));
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error;
          problems.push(...error.problems);
        }
        variables = { ...variables, ...this.#lastVariables.get(path) };
      }
    }
    return variables;
  }

  /** Groups files that differ only in their extension, and forgets files that are gone. */
  #group({ file, settings }: Configuration): void {
    const isIgnored = ignoring(settings.ignorePaths);
    const groups = new Map<string, string[]>();
    for (const path of this.#files.keys()) {
      if (path.endsWith(".env") || (PROJECT_FILES as readonly string[]).includes(path) || isIgnored(path)) continue;
      const stem = path.replace(/\.(sql|ya?ml)$/, "");
      groups.set(stem, [...(groups.get(stem) ?? []), path]);
    }
    const configured = JSON.stringify([settings, [...file.connectors]]) + JSON.stringify([...file.defaults], mapsToo);
    const isNew = configured !== this.#configured;
    this.#configured = configured;
    for (const stem of [...this.#stems.keys()]) {
      if (groups.has(stem)) continue;
      this.#stems.delete(stem);
      this.#lastNames.delete(stem);
    }
    for (const [stem, paths] of groups) {
      const before = this.#stems.get(stem);
      const texts = this.#textsOf(stem, paths.sort());
      const isSame = before && isEqual(before.texts, texts);
      if (!isSame) this.#stems.set(stem, { texts, paths });
      else if (isNew) this.#stems.set(stem, { texts: before.texts, paths: before.paths });
    }
  }

  #textsOf(stem: string, paths: readonly string[]): FileTexts | Problem {
    const yamls = paths.filter((path) => !path.endsWith(".sql"));
    if (yamls.length > 1) {
      const message = `${yamls.join(" and ")} describe the same resource: remove one of them`;
      return { severity: "error", message, place: { path: yamls[1]!, line: 1, column: 1 } };
    }
    const texts: { stem: string; sql?: { path: string; text: string }; yaml?: { path: string; text: string } } = {
      stem,
    };
    for (const path of paths) {
      const { text } = this.#files.get(path)!;
      if (typeof text !== "string") return text;
      texts[path.endsWith(".sql") ? "sql" : "yaml"] = { path, text };
    }
    return texts;
  }

  /** Marks those files to be parsed again whose data has changed. */
  async #lookAtData(changed: readonly string[] | undefined): Promise<void> {
    const patterns = new Set([...this.#stems.values()].flatMap(({ parsed }) => parsed?.declaration?.patterns ?? []));
    const stale = new Set<string>();
    for (const pattern of patterns) {
      if (changed && !changed.some((path) => this.#data.matches(pattern, path))) continue;
      const fingerprint = await this.#data.fingerprint(pattern);
      if (fingerprint !== this.#fingerprints.get(pattern)) stale.add(pattern);
      this.#fingerprints.set(pattern, fingerprint);
    }
    for (const [name, stem] of this.#stems) {
      const isStale = stem.parsed?.declaration?.patterns?.some((pattern) => stale.has(pattern));
      if (isStale) this.#stems.set(name, { texts: stem.texts, paths: stem.paths });
    }
  }

  /** Finds the drivers of the connectors first, because the parsing of models depends on them. */
  #connect(configuration: Configuration): Configuration {
    const { connectors } = configuration.file;
    const drivers = new Map([...connectors].map(([name, { driver }]) => [name, driver]));
    const implied = impliedConnectors(connectors, configuration.settings.variables);
    const databases = new Set([...implied].filter(([, { properties }]) => "path" in properties).map(([name]) => name));
    for (const { texts, paths } of this.#stems.values()) {
      if (!("stem" in texts) || !isConnector(texts, paths[0]!)) continue;
      try {
        const { name, settings } = resourceFile(texts, this.#rules(configuration));
        const driver = textAt(settings, "driver")?.text;
        if (driver) drivers.set(name, driver);
        if (textAt(settings, "path")) databases.add(name);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
      }
    }
    const facts = (known: Pick<Configuration, "drivers" | "databases"> | undefined) =>
      JSON.stringify([[...(known?.drivers ?? [])].sort(), [...(known?.databases ?? [])].sort()]);
    const isSame = facts({ drivers, databases }) === facts(this.#configuration);
    if (!isSame && this.#configuration)
      for (const [name, { texts, paths }] of this.#stems) this.#stems.set(name, { texts, paths });
    return (this.#configuration = { ...configuration, drivers, databases });
  }

  #rules({ file }: Configuration): FileRules {
    return { kinds: this.#kinds, environment: this.#environment, defaults: file.defaults };
  }

  async #parseStems(configuration: Configuration): Promise<void> {
    const context = this.#context(configuration);
    const open = [...this.#stems].filter(([, { parsed }]) => !parsed);
    const parsed = await Promise.all(open.map(([name, stem]) => this.#parseStem(name, stem, configuration, context)));
    for (const [index, [name, stem]] of open.entries()) this.#stems.set(name, { ...stem, parsed: parsed[index]! });
  }

  #context({ settings, drivers, databases }: Configuration): FileContext {
    return {
      settings,
      driverOf: (connector) => drivers.get(connector) ?? connector,
      isElsewhere: (connector) => databases.has(connector) && connector !== settings.olapConnector,
      sql: (text, options = {}) => analyzeSql(text, settings, this.#statements.parse, options),
      text: (text) => analyzeText(text, settings),
      fingerprint: async (pattern) => {
        const fingerprint = await this.#data.fingerprint(pattern);
        this.#fingerprints.set(pattern, fingerprint);
        return fingerprint;
      },
    };
  }

  async #parseStem(name: string, stem: Stem, configuration: Configuration, context: FileContext): Promise<ParsedFile> {
    this.#resourcesParsed++;
    const { texts, paths } = stem;
    let file: ResourceFile | undefined;
    try {
      if (!("stem" in texts)) throw new ProblemError(texts);
      file = resourceFile(texts, this.#rules(configuration));
      const declaration = await file.kind.parse?.(file, context);
      if (file.kind.parse) this.#lastNames.set(name, { kind: file.kind, name: file.name });
      return parsedFile(file, declaration);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      return this.#brokenFile(name, paths, file, error.problems);
    }
  }

  #brokenFile(
    stem: string,
    paths: readonly string[],
    file: ResourceFile | undefined,
    problems: readonly Problem[],
  ): ParsedFile {
    const last = this.#lastNames.get(stem);
    const hasSql = paths.some((path) => path.endsWith(".sql"));
    const kind = file?.kind ?? last?.kind ?? kindByPath(paths[0]!, hasSql, this.#kinds) ?? modelFile;
    const name = file?.name ?? last?.name ?? nameByPath(stem);
    const place = problems[0]?.place ?? { path: paths[0]!, line: 1, column: 1 };
    const shown = kind.parse ? problems : problems.map((problem) => ({ ...problem, severity: "warning" as const }));
    return { paths, kind, name, place, tags: [], problems: shown };
  }
}

/** Connectors that the project file and variables declare, as if each had a file. */
function impliedFiles({ file, settings }: Configuration, files: readonly ParsedFile[]): readonly ParsedFile[] {
  const declared = new Set(files.filter(({ kind }) => kind === connectorFile).map(({ name }) => name.toLowerCase()));
  const place = { path: file.path, line: 1, column: 1 };
  return [...impliedConnectors(file.connectors, settings.variables)]
    .filter(([name]) => !declared.has(name.toLowerCase()))
    .map(([name, spec]) => {
      const declaration = { spec };
      return { paths: [file.path], kind: connectorFile, name, place, tags: [], problems: [], declaration };
    });
}

function parsedFile({ paths, kind, name, place, tags, settings }: ResourceFile, declaration?: Declaration): ParsedFile {
  const named = settings.entries.get("name")?.value.place ?? place;
  return { paths, kind, name, place: named, tags, problems: [], ...(declaration && { declaration }) };
}

/** A cheap test before the real parse. */
function isConnector(texts: FileTexts, path: string): boolean {
  return path.startsWith("connectors/") || /^\s*(type|kind):\s*["']?connector/im.test(texts.yaml?.text ?? "");
}

function ignoring(paths: readonly string[]): (path: string) => boolean {
  const rules = paths.map((path) => path.replace(/^\//, "").replace(/\/$/, ""));
  const tests = rules.map((rule) => {
    const pattern = isGlob(rule) ? globPattern(rule) : undefined;
    return (path: string) => (pattern ? pattern.test(path) : path === rule || path.startsWith(`${rule}/`));
  });
  return (path) => tests.some((test) => test(path));
}

function isEqual(left: FileTexts | Problem, right: FileTexts | Problem): boolean {
  if (!("stem" in left) || !("stem" in right)) return JSON.stringify(left) === JSON.stringify(right);
  const [a, b] = [left, right];
  return (["sql", "yaml"] as const).every((part) => a[part]?.path === b[part]?.path && a[part]?.text === b[part]?.text);
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const mapsToo = (_key: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);

function byPlace({ place: left }: Problem, { place: right }: Problem): number {
  if (!left || !right) return Number(right !== undefined) - Number(left !== undefined);
  if (left.path !== right.path) return left.path < right.path ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}
