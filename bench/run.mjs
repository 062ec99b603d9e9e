// npm run bench -- NAME [-o json]: runs bench/NAME/NAME.mjs, which exports `measure(): Promise<Row[]>` (see report.mjs).
import { existsSync, readdirSync } from "node:fs";
import { printJson, printTable } from "./report.mjs";

const [name, ...options] = process.argv.slice(2);
const here = new URL("./", import.meta.url);
const names = readdirSync(here).filter((folder) => existsSync(new URL(`${folder}/${folder}.mjs`, here)));
const isJson = options.length === 2 && options[0] === "-o" && options[1] === "json";

if (!name || !names.includes(name) || (options.length > 0 && !isJson)) {
  console.error(`usage: npm run bench -- NAME [-o json]\nNAME is one of: ${names.join(", ")}`);
  process.exit(2);
}
const { measure } = await import(new URL(`${name}/${name}.mjs`, here));
const rows = await measure();
if (isJson) printJson(rows);
else printTable(rows);
