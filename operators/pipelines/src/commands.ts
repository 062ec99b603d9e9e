import type { Command, CommandContext, CommandGroup, CommandOption } from "setpoint/command";

const text = (placeholder: string, description: string, more: Partial<CommandOption> = {}): CommandOption => ({
  type: "string",
  placeholder,
  description,
  ...more,
});

const flag = (description: string): CommandOption => ({ type: "boolean", description });

const output = text("FORMAT", "json or yaml, for scripts", { short: "o", choices: ["json", "yaml"] });

/** How the files are read. */
const reading = {
  environment: text("NAME", "the environment whose overrides hold in the files, such as dev or prod", {
    default: "dev",
  }),
  var: text("NAME=VALUE", "the value of a variable, before those of .env files", { multiple: true }),
};

/** Where and how models are built. */
const building = {
  ...reading,
  env: text("NAME", "builds in a schema of this name; tables that do not differ are shared by a view"),
  "memory-limit": text("SIZE", "how much memory the engine may take, such as 2GB"),
};

const cluster = {
  kubeconfig: text("FILE", "shows the resources as objects in this cluster"),
  context: text("NAME", "the kubeconfig's context to use"),
  namespace: text("NAME", "where the objects are (default: that of the context)"),
};

type Runner = (context: CommandContext) => Promise<number>;

const command = (
  name: string,
  load: () => Promise<Runner>,
  rest: Pick<Command, "summary" | "usage" | "options" | "examples"> & { readonly notes?: readonly string[] },
): Command => ({ name, allowsPositionals: true, load, ...rest });

const BUSY = "Where another process keeps the folder, that process answers.";

/** `setpoint pipelines …`. Every start of the command line loads this module: what a command needs is imported when it runs. */
export const pipelines: CommandGroup = {
  name: "pipelines",
  summary: "Keeps the tables of a folder of SQL and YAML files as the files say.",
  commands: [
    command("init", async () => (await import("./commands/init.js")).runInit, {
      summary: "Writes a small project to begin with.",
      usage: "[options] DIR",
      options: { output },
      examples: [{ text: "a first project", command: "setpoint pipelines init shop" }],
      notes: [
        "Writes nothing where one of its files is already there.",
        "Exit codes: 0 written, 1 a file is already there, 2 wrong usage.",
      ],
    }),
    command("start", async () => (await import("./commands/start.js")).runStart, {
      summary: "Keeps the tables up to date until it is interrupted.",
      usage: "[options] [DIR]",
      options: {
        ...building,
        port: text("PORT", "where to serve the state over HTTP, on this machine alone; 0 takes any", {
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
        "Edits of files, new data and tables changed by hand are put right as they are noticed.",
        "Exit codes: 0 interrupted, 1 it could not start, 2 wrong usage.",
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
          text: "and look at a table",
          command: 'setpoint pipelines run shop --query "SELECT count(*) AS n FROM orders" -o json',
        },
      ],
      notes: [
        "With -o json the only line of the output is { executed, settled, failed }, or the rows of --query.",
        "Exit codes: 0 all is fresh, 1 a file has an error or a run failed, 2 wrong usage, 130 interrupted.",
      ],
    }),
    command("validate", async () => (await import("./commands/validate.js")).runValidate, {
      summary: "Reads the files and lists what is wrong with them; runs nothing.",
      usage: "[options] [DIR]",
      options: { ...reading, output },
      examples: [{ text: "before a commit", command: "setpoint pipelines validate shop" }],
      notes: ["Exit codes: 0 no errors, 1 errors, 2 wrong usage."],
    }),
    command("plan", async () => (await import("./commands/plan.js")).runPlan, {
      summary: "Shows what a run would do, and why.",
      usage: "[options] [DIR]",
      options: { ...building, output },
      examples: [{ text: "what an edit would cost", command: "setpoint pipelines plan shop" }],
      notes: [
        "-o json is an array of { kind, name, action, reason }.",
        "Exit codes: 0 planned, 1 errors in files, 2 wrong usage.",
      ],
    }),
    command("diff", async () => (await import("./commands/diff.js")).runDiff, {
      summary: "Shows which rows of a model an edit would change.",
      usage: "[options] [DIR] MODEL",
      options: { ...building, limit: text("ROWS", "rows to show of each side", { default: "20" }), output },
      examples: [{ text: "after an edit, before a run", command: "setpoint pipelines diff shop daily_sales" }],
      notes: [
        "Builds what has changed in a schema of its own, which is dropped afterwards.",
        "Exit codes: 0 shown, 1 a model cannot be built, 2 wrong usage.",
      ],
    }),
    command("refresh", async () => (await import("./commands/refresh.js")).runRefresh, {
      summary: "Runs models again although nothing has changed.",
      usage: "[options] [DIR] RESOURCE...",
      options: {
        ...building,
        full: flag("rebuilds from nothing, also what is incremental"),
        partition: text("KEY", "this partition only: its key, or a value of it", { multiple: true }),
        from: text("VALUE", "partitions from this value on"),
        to: text(
          "VALUE",
          "partitions up to this value, which may be the beginning of one: 2026-01 takes in all of January",
        ),
        preview: flag("lists the partitions that are meant, and runs nothing"),
        output,
      },
      examples: [
        { text: "one model", command: "setpoint pipelines refresh shop orders" },
        {
          text: "a week again, looked at first",
          command: "setpoint pipelines refresh shop orders --from 2026-01-05 --to 2026-01-11 --preview",
        },
      ],
      notes: [BUSY, "Exit codes: 0 refreshed, 1 a run failed, 2 wrong usage."],
    }),
    command("explain", async () => (await import("./commands/explain.js")).runExplain, {
      summary: "Says why a resource ran, why it did not, and what it waits for.",
      usage: "[options] [DIR] RESOURCE",
      options: { ...building, output },
      examples: [{ text: "why a table is as it is", command: "setpoint pipelines explain shop daily_sales" }],
      notes: [BUSY, "Exit codes: 0 explained, 1 there is no such resource, 2 wrong usage."],
    }),
    command("graph", async () => (await import("./commands/graph.js")).runGraph, {
      summary: "Shows the resources of the files and what they read.",
      usage: "[options] [DIR]",
      options: { ...reading, mermaid: flag("as the text of a Mermaid picture"), output },
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
        resolver: text("NAME", "what the properties are for", { default: "sql" }),
        properties: text("JSON", `what is asked: '{"sql": "SELECT …"}'`),
        sql: text("SQL", "short for the resolver sql with this statement"),
        user: text("JSON", "attributes of the user who asks"),
        limit: text("ROWS", "prints no more rows than this"),
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
