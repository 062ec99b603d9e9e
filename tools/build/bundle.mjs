// Bundles the exported entry points of each package into dist/, beside the declarations of `tsc -b`. One file instead
// of sixty keeps `import "setpoint"` within its budget; dependencies stay external.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { eagerChunks } from "./eager-chunks.mjs";
import { lineBreaks } from "./line-breaks.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Every file below a folder; Node 20 has no fs.globSync. */
function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** `./dist/a/*.js` → one entry for each source file that the pattern names. */
function entriesOf(folder, target) {
  const source = target.replace("./dist/", "src/").replace(/\.js$/, ".ts");
  if (!source.includes("*")) return existsSync(join(folder, source)) ? [source] : [];
  const base = join(folder, source.slice(0, source.indexOf("*")));
  if (!existsSync(base)) return [];
  return filesBelow(base)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => relative(folder, file));
}

/** A large table parses several times faster from a string than as code. */
const jsonAsText = {
  name: "json-as-text",
  load(id) {
    if (!id.endsWith(".json")) return null;
    const text = JSON.stringify(JSON.parse(readFileSync(id, "utf8")));
    const literal = text.replace(/[\\']/g, "\\$&");
    return { code: `export default JSON.parse('${literal}');`, moduleType: "js" };
  },
};

const FILE_BESIDE = /new URL\("(\.\/[\w-]+\.json)", import\.meta\.url\)/g;

/** Emits a table that is read at run time as a separate file, so that Node does not parse it on import. */
const jsonFiles = {
  name: "json-files",
  transform(code, id) {
    return code.replaceAll(FILE_BESIDE, (_, name) => {
      const source = JSON.stringify(JSON.parse(readFileSync(join(dirname(id), name), "utf8")));
      const file = this.emitFile({ type: "asset", name: basename(name), source });
      return `new URL(import.meta.ROLLUP_FILE_URL_${file})`;
    });
  },
};

function targetsOf(manifest) {
  const exported = Object.values(manifest.exports ?? {}).map((entry) => entry.default);
  // A command's own file is in the sources and loads this one if it exists.
  return [...exported, "./dist/bin.js"].filter((target) => target?.startsWith("./dist/"));
}

const all = [
  ...["packages", "operators"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  ),
  join(root, "conformance"),
];
/** `bundle.mjs packages/cli …` bundles only these packages. */
const folders = process.argv.length > 2 ? process.argv.slice(2).map((name) => join(root, name)) : all;
for (const folder of folders) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const sources = [...new Set(targetsOf(manifest).flatMap((target) => entriesOf(folder, target)))];
  if (sources.length === 0) continue;
  const { output } = await build({
    cwd: folder,
    input: Object.fromEntries(sources.map((source) => [source.slice("src/".length, -".ts".length), source])),
    external: (id) => !/^[./]|^@oxc-project\/runtime/.test(id),
    platform: "node",
    plugins: [jsonAsText, jsonFiles, lineBreaks],
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: "node20" },
    logLevel: "warn",
    checks: { bundlerTimings: false },
    output: {
      dir: "dist",
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      assetFileNames: "chunks/[name]-[hash][extname]",
      codeSplitting: { groups: eagerChunks(folder, sources) },
      // Comments and blanks cost parse time and memory at every import; names stay for readable stack traces.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    },
  });
  // Chunk names contain a content hash: files of earlier builds would accumulate and be published.
  const chunks = join(folder, "dist/chunks");
  const current = new Set(output.map(({ fileName }) => fileName));
  for (const name of existsSync(chunks) ? readdirSync(chunks) : []) {
    if (!current.has(`chunks/${name}`)) rmSync(join(chunks, name));
  }
}
