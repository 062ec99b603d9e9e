import { SetpointError } from "../errors/error.js";
import type { StandardIssue } from "../kinds/schema/json-schema.js";
import type { App } from "./app.js";
import { type AppManifest, checkManifest } from "./manifest.js";
import { formProblem } from "./manifest-form.js";

/**
 * Makes an app from a configuration of its own, and says what it should be. `run` takes the configuration from the
 * `apps` of its file, by the provider's name.
 *
 * ```ts
 * const shopProvider: AppProvider<{ region: string }> = {
 *   name: "shop",
 *   manifest: { file: "shop.yaml" },
 *   config: z.object({ region: z.string() }),
 *   create: ({ region }) => app({ name: "shop", kinds: [Order], loops: [ordersIn(region)] }),
 * };
 * await run(shopProvider, { config: "operator.yaml" });
 * ```
 */
export interface AppProvider<Config = undefined> {
  readonly name: string;
  /** The form of the configuration: a schema of any Standard Schema library. */
  readonly config?: ConfigSchema<Config>;
  /** The manifest: an object, JSON or YAML text, or a file with either. Without it, only the code describes the app. */
  readonly manifest?: AppManifest | string | { readonly file: string };
  create(config: Config): App | Promise<App>;
}

/** What {@link AppProvider} needs of a schema library. */
export interface ConfigSchema<Config> {
  readonly "~standard": {
    readonly validate: (value: unknown) => ConfigResult<Config> | Promise<ConfigResult<Config>>;
  };
}

type ConfigResult<Config> =
  | { readonly value: Config; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/**
 * The provider's app, checked against its manifest. Rejects with `CONFIGURATION_INVALID`, which names each field,
 * `MANIFEST_INVALID` or `MANIFEST_MISMATCH`.
 */
export async function provideApp<Config>(provider: AppProvider<Config>, config: Config): Promise<App> {
  const app = await provider.create(await checked(provider, config));
  if (provider.manifest !== undefined) checkManifest(app, await readManifest(provider.manifest));
  return app;
}

async function checked<Config>({ name, config: schema }: AppProvider<Config>, config: Config): Promise<Config> {
  if (!schema) return config;
  const result = await schema["~standard"].validate(config);
  if (!result.issues) return result.value;
  const problems = result.issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
    return `${["apps", name, ...steps].join(".")}: ${message}`;
  });
  throw new SetpointError("CONFIGURATION_INVALID", problems.join("; "));
}

/** Reads a manifest from an object, a text or a file. Rejects with `MANIFEST_INVALID`; the message names the file. */
export async function readManifest(source: NonNullable<AppProvider["manifest"]>): Promise<AppManifest> {
  if (typeof source === "string") return parseManifest(source, "manifest");
  if (!("file" in source)) return checkedManifest(source, "manifest");
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  try {
    return await parseManifest(await readFile(source.file, "utf8"), source.file);
  } catch (cause) {
    if (cause instanceof SetpointError) throw cause;
    throw new SetpointError("MANIFEST_INVALID", `${source.file}: ${(cause as Error).message}`, { cause });
  }
}

async function parseManifest(text: string, where: string): Promise<AppManifest> {
  let value: unknown;
  try {
    // JSON is YAML too, so the parser is loaded only for other text.
    value = text.trimStart().startsWith("{") ? JSON.parse(text) : (await import("yaml")).parse(text);
  } catch (cause) {
    throw invalidManifest(where, (cause as Error).message, cause);
  }
  if (typeof value === "string")
    throw invalidManifest(where, `${shown(value)} is not a manifest; { file: ${shown(value)} } reads one`);
  return checkedManifest(value, where);
}

function checkedManifest(value: unknown, where: string): AppManifest {
  const problem = formProblem(value);
  if (problem) throw invalidManifest(where, problem);
  return value as AppManifest;
}

function invalidManifest(where: string, why: string, cause?: unknown): SetpointError {
  return new SetpointError("MANIFEST_INVALID", `${where}: ${why}`, { cause });
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** The manifest as text that {@link readManifest} takes. */
export async function formatManifest(manifest: AppManifest, format: "json" | "yaml" = "yaml"): Promise<string> {
  if (format === "json") return `${JSON.stringify(manifest, null, 2)}\n`;
  return (await import("yaml")).stringify(manifest, { aliasDuplicateObjects: false });
}
