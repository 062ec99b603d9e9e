import type { Command, CommandContext, CommandGroup, CommandOption } from "setpoint/command";

const text = (placeholder: string, description: string, more: Partial<CommandOption> = {}): CommandOption => ({
  type: "string",
  placeholder,
  description,
  ...more,
});

const flag = (description: string): CommandOption => ({ type: "boolean", description });

const output = text("FORMAT", "json or yaml, for scripts", { short: "o", choices: ["json", "yaml"] });

/** Options that say how to read the files. */
const reading = {
  environment: text("NAME", "the environment whose overrides apply to the files, such as dev or prod", {
    default: "dev",
  }),
  var: text("NAME=VALUE", "the value of a variable; takes precedence over .env files", { multiple: true }),
};

/** Options that say where and how to build models. */
const building = {
  ...reading,
  env: text("NAME", "builds in a schema of this name; unchanged tables are views of the main schema"),
  "memory-limit": text("SIZE", "the memory limit of the engine, such as 2GB"),
};

const cluster = {
  kubeconfig: text("FILE", "mirrors the resources as objects in this cluster"),
  context: text("NAME", "the kubeconfig's context to use"),
  namespace: text("NAME", "the namespace of the objects (default: that of the context)"),
};

type Runner = (context: CommandContext) => Promise<number>;

const command = (
  name: string,
  load: () => Promise<Runner>,
  rest: Pick<Command, "summary" | "usage" | "options" | "examples"> & { readonly notes?: readonly string[] },
): Command => ({ name, allowsPositionals: true, load, ...rest });

const BUSY = "If another process runs on the folder, that process answers.";

/**
 * `setpoint pipelines …`. Every start of the command line loads this module, so a command imports what it needs only
 * when it runs.
 */
export const pipelines: CommandGroup = {
  name: "pipelines",
  summary: "Builds and refreshes the tables that a folder of SQL and YAML files declares.",
  commands: [
    command("init", async () => (await import("./commands/init.js")).runInit, {
      summary: "Writes a small sample project.",
      usage: "[options] DIR",
      options: { output },
      examples: [{ text: "a first project", command: "setpoint pipelines init shop" }],
      notes: [
        "Writes nothing if one of the files exists.",
        "Exit codes: 0 written, 1 a file exists already, 2 wrong usage.",
      ],
    }),
    command("start", async () => (await import("./commands/start.js")).runStart, {
      summary: "Keeps the tables up to date until you interrupt it.",
      usage: "[options] [DIR]",
      options: {
        ...building,
        port: text("PORT", "the port of the HTTP server on 127.0.0.1; 0 takes any free port", {
          default: "9009",
        }),
        ...cluster,
        output,
      },
      examples: [
        { text: "the project in this folder", command: "setpoint pipelines start" },
        { text: "with its models as Kubernetes objects", command: "setpoint pipelines start shop --kubeconfig k.yaml" },
      ],
      notes: [
        "It reacts to edited files, new data and tables that somebody else changed.",
        "Exit codes: 0 interrupted, 1 failed to start, 2 wrong usage.",
      ],
    }),
    command("run", async () => (await import("./commands/run-once.js")).runRun, {
      summary: "Brings the tables up to date once.",
      usage: "[options] [DIR]",
      options: {
        ...building,
        query: text("SQL", "prints the rows of this query afterwards"),
        output,
      },
      examples: [
        { text: "once, as from cron", command: "setpoint pipelines run shop --environment prod" },
        {
          text: "run, then query a table",
          command: 'setpoint pipelines run shop --query "SELECT count(*) AS n FROM orders" -o json',
        },
      ],
      notes: [
        "With -o json the only output line is { executed, settled, failed }, or the rows of --query.",
        "Exit codes: 0 everything is up to date, 1 a file has an error or a run failed, 2 wrong usage, 130 interrupted.",
      ],
    }),
    command("validate", async () => (await import("./commands/validate.js")).runValidate, {
      summary: "Lists the errors in the files; runs nothing.",
      usage: "[options] [DIR]",
      options: { ...reading, output },
      examples: [{ text: "before a commit", command: "setpoint pipelines validate shop" }],
      notes: ["Exit codes: 0 no errors, 1 errors, 2 wrong usage."],
    }),
    command("plan", async () => (await import("./commands/plan.js")).runPlan, {
      summary: "Shows what a run would do, and why.",
      usage: "[options] [DIR]",
      options: { ...building, output },
      examples: [{ text: "what an edit would rebuild", command: "setpoint pipelines plan shop" }],
      notes: [
        "-o json is an array of { kind, name, action, reason }.",
        "Exit codes: 0 planned, 1 errors in files, 2 wrong usage.",
      ],
    }),
    command("diff", async () => (await import("./commands/diff.js")).runDiff, {
      summary: "Shows which rows of a model an edit would change.",
      usage: "[options] [DIR] MODEL",
      options: { ...building, limit: text("ROWS", "how many rows to show of each side", { default: "20" }), output },
      examples: [{ text: "after an edit, before a run", command: "setpoint pipelines diff shop daily_sales" }],
      notes: [
        "Builds the changed models in a temporary schema, and drops it afterwards.",
        "Exit codes: 0 shown, 1 a model cannot be built, 2 wrong usage.",
      ],
    }),
    command("refresh", async () => (await import("./commands/refresh.js")).runRefresh, {
      summary: "Runs models again even if nothing has changed.",
      usage: "[options] [DIR] RESOURCE...",
      options: {
        ...building,
        full: flag("rebuilds from scratch, incremental models too"),
        partition: text("KEY", "only this partition: its key, or one of its values", { multiple: true }),
        from: text("VALUE", "partitions from this value on"),
        to: text("VALUE", "partitions up to this value or prefix: 2026-01 includes all of January"),
        preview: flag("lists the selected partitions, and runs nothing"),
        output,
      },
      examples: [
        { text: "one model", command: "setpoint pipelines refresh shop orders" },
        {
          text: "one week again, as a preview",
          command: "setpoint pipelines refresh shop orders --from 2026-01-05 --to 2026-01-11 --preview",
        },
      ],
      notes: [BUSY, "Exit codes: 0 refreshed, 1 a run failed, 2 wrong usage."],
    }),
    command("explain", async () => (await import("./commands/explain.js")).runExplain, {
      summary: "Explains why a resource ran or did not run, and what it waits for.",
      usage: "[options] [DIR] RESOURCE",
      options: { ...building, output },
      examples: [{ text: "explain a table", command: "setpoint pipelines explain shop daily_sales" }],
      notes: [BUSY, "Exit codes: 0 explained, 1 no such resource, 2 wrong usage."],
    }),
    command("graph", async () => (await import("./commands/graph.js")).runGraph, {
      summary: "Shows the resources of the files and their dependencies.",
      usage: "[options] [DIR]",
      options: { ...reading, mermaid: flag("prints a Mermaid diagram"), output },
      examples: [{ text: "for a page", command: "setpoint pipelines graph shop --mermaid" }],
      notes: [
        "-o json is { nodes: [{ kind, name, refs: [{ kind, name }] }] }.",
        "Exit codes: 0 shown, 1 errors in files, 2 wrong usage.",
      ],
    }),
    command("query", async () => (await import("./commands/query.js")).runQuery, {
      summary: "Prints the rows of a query.",
      usage: "[options] [DIR]",
      options: {
        ...building,
        resolver: text("NAME", "the resolver that answers the query", { default: "sql" }),
        properties: text("JSON", `what is asked: '{"sql": "SELECT …"}'`),
        sql: text("SQL", "shorthand for the resolver sql with this statement"),
        user: text("JSON", "attributes of the querying user"),
        limit: text("ROWS", "the largest number of rows to print"),
        output,
      },
      examples: [
        { text: "a table", command: 'setpoint pipelines query shop --sql "FROM orders LIMIT 10"' },
        {
          text: "for a script",
          command: `setpoint pipelines query shop --resolver sql --properties '{"sql": "FROM orders"}' -o json`,
        },
      ],
      notes: [BUSY, "Exit codes: 0 answered, 1 the query failed, 2 wrong usage."],
    }),
  ],
};
