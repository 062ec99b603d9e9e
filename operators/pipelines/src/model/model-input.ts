import { mkdirSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { PipelinesError } from "../errors.js";
import { type SourceText, sourceText } from "../project/source-text.js";
import { fetchIntoCache } from "./http-cache.js";
import type { ModelInput } from "./model-spec.js";
import { copyFromPostgres } from "./postgres-copy.js";
import { formatOf, readerSql } from "./reader-sql.js";

/** A connector as the project declares it. Properties may hold secrets. */
export interface ConnectorSettings {
  readonly driver: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface InputOptions {
  readonly render: (source: SourceText) => string;
  readonly connector: (name: string) => ConnectorSettings | undefined;
  /** The project's folder. */
  readonly folder: string;
  /** Folder for fetched data. */
  readonly cacheFolder: string;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** The query that returns a run's rows. Disposing it removes temporary files. */
export interface ResolvedInput extends Disposable {
  readonly sql: string;
}

export async function resolveInput(input: ModelInput, options: InputOptions): Promise<ResolvedInput> {
  const { render, signal } = options;
  switch (input.type) {
    case "sql":
      return resolved(render(input.sql));
    case "files": {
      const path = render(input.path).trim();
      const whole = isAbsolute(path) ? path : join(options.folder, path);
      return resolved(readerSql(whole, input.format ?? formatOf(path), input.options));
    }
    case "http": {
      const headers = headersOf(input.options.headers, options.connector(input.connector), render);
      // Render the URL last, so that errors in the rows name the place of the URL.
      const url = render(input.url).trim();
      const path = await fetchIntoCache({ url, headers, folder: join(options.cacheFolder, "http"), signal });
      return resolved(readerSql(path, input.format ?? formatOf(url), input.options));
    }
    case "postgres": {
      const folder = join(options.cacheFolder, "postgres");
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${options.runId}.csv`);
      const remove = (): void => rmSync(path, { force: true });
      try {
        const url = connectionUrl(input.connector, options.connector(input.connector));
        return resolved(await copyFromPostgres({ url, sql: render(input.sql), path, signal }), remove);
      } catch (error) {
        remove();
        throw error;
      }
    }
  }
}

function resolved(sql: string, remove: () => void = () => {}): ResolvedInput {
  return { sql, [Symbol.dispose]: remove };
}

/** Headers of the connector, overridden by those of the file. Values may be templates. */
function headersOf(
  own: unknown,
  connector: ConnectorSettings | undefined,
  render: InputOptions["render"],
): Readonly<Record<string, string>> {
  const given = { ...(connector?.properties.headers as object | undefined), ...(own as object | undefined) };
  const texts = Object.entries(given).map(([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(
    texts.map(([name, text]) => [name, text.includes("{{") ? render(sourceText(`header ${name}`, text)) : text]),
  );
}

function connectionUrl(name: string, connector: ConnectorSettings | undefined): string {
  const { properties = {} } = connector ?? {};
  const given = properties.dsn ?? properties.database_url;
  if (typeof given === "string" && given !== "") return given;
  const { host, port, user, password, dbname } = properties;
  if (typeof host !== "string") {
    const message = `the connector ${name} has neither dsn nor host: it cannot be read`;
    throw new PipelinesError("PIPELINES_INPUT_FAILED", message);
  }
  const url = new URL("postgres://localhost");
  url.hostname = host;
  if (port !== undefined) url.port = String(port);
  if (typeof user === "string") url.username = encodeURIComponent(user);
  if (typeof password === "string") url.password = encodeURIComponent(password);
  url.pathname = `/${String(dbname ?? "postgres")}`;
  return url.href;
}
