import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import { isForScript, printValue } from "./printing.js";

/** The sample project: a source from a file, a view, and a table with a schedule and a test. */
const FILES: Readonly<Record<string, string>> = {
  "setpoint.yaml": "display_name: Shop\nolap_connector: duckdb\n",
  "data/orders.csv": [
    "id,customer,ordered_on,amount",
    "1,ada,2026-01-05,12.50",
    "2,grace,2026-01-05,40.00",
    "3,ada,2026-01-06,7.25",
    "4,linus,2026-01-07,19.99",
    "",
  ].join("\n"),
  "sources/orders.yaml": "type: source\nconnector: local_file\npath: data/orders.csv\n",
  "models/big_orders.sql": "SELECT id, customer, amount\nFROM orders\nWHERE amount >= 10\n",
  "models/daily_sales.yaml": [
    "type: model",
    "sql: |",
    "  SELECT ordered_on AS day, count(*) AS orders, sum(amount) AS sales",
    "  FROM orders",
    "  GROUP BY day",
    "  ORDER BY day",
    "materialize: true",
    "refresh:",
    '  cron: "0 6 * * *"',
    "  run_in_dev: true",
    "tests:",
    "  - name: every day has sales",
    "    sql: SELECT * FROM daily_sales WHERE sales <= 0",
    "",
  ].join("\n"),
};

/** `setpoint pipelines init` */
export async function runInit(context: CommandContext): Promise<number> {
  const { positionals, stdout } = context;
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new UsageError("name a folder: init DIR");
  const taken = Object.keys(FILES).find((path) => existsSync(join(folder, path)));
  if (taken !== undefined) throw new CommandError(`${join(folder, taken)} exists already; wrote nothing`);
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (!isForScript(context)) stdout(join(folder, path));
  }
  if (isForScript(context)) printValue(context, { files: Object.keys(FILES) });
  else stdout(`Try: setpoint pipelines run ${folder}`);
  return 0;
}
