// Checks the packages as users get them: packed, installed outside the workspace without a registry, imported on every
// supported Node, type-checked, and without install scripts. Needs a build (npm run build).
//
//   node tools/packaging/check.mjs
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeBinary, supportedVersions } from "./node-versions.mjs";
import { pack, publishedFolders, root, runtimeFolders } from "./tarballs.mjs";

const problems = [];
const work = mkdtempSync(join(tmpdir(), "setpoint-packaging-"));
const consumer = join(work, "consumer");
mkdirSync(consumer);

function checkContents({ name, files, unpackedSize }) {
  const foreign = files.filter((file) => !/^((bin|dist)\/|package\.json$|README|LICENSE|CHANGELOG|NOTICE)/.test(file));
  const tests = files.filter((file) =>
    /\.(test|suite|contract|testing)\.|^dist\/.+\/testing\/|\.tsbuildinfo$|\.map$/.test(file),
  );
  for (const file of [...foreign, ...tests]) problems.push(`${name}: ${file} does not belong into the package`);
  for (const file of ["README.md", "LICENSE"]) if (!files.includes(file)) problems.push(`${name}: has no ${file}`);
  const { exports: entries = {}, bin = {} } = JSON.parse(
    readFileSync(
      join(
        publishedFolders().find((folder) => nameOf(folder) === name),
        "package.json",
      ),
      "utf8",
    ),
  );
  const targets = [
    ...Object.values(entries).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry))),
    ...Object.values(bin),
  ];
  for (const target of targets.map((path) => path.replace("./", ""))) {
    const [before, after] = target.split("*");
    const isThere = files.some((file) =>
      after === undefined ? file === target : file.startsWith(before) && file.endsWith(after),
    );
    if (!isThere) problems.push(`${name}: exports ${target}, which is not in the package`);
  }
  console.log(`${name}: ${files.length} files, ${(unpackedSize / 1024).toFixed(0)} kB`);
}

const nameOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name;

/** Installs our packages from their tarballs; their dependencies come from npm's cache, or else from the registry. */
function install(tarballs) {
  const dependencies = Object.fromEntries(tarballs.map(({ name, file }) => [name, `file:${file}`]));
  writeFileSync(
    join(consumer, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }, null, 2),
  );
  const args = ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  execFileSync("npm", args, { cwd: consumer, stdio: ["ignore", "ignore", "inherit"] });
}

function installedFolders(folder = join(consumer, "node_modules")) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name.startsWith("@")) return installedFolders(path);
    if (!existsSync(join(path, "package.json"))) return [];
    return [path, ...installedFolders(join(path, "node_modules"))];
  });
}

/** npm 12 does not run install scripts: a package that needs one would be broken. */
function checkScripts() {
  for (const folder of installedFolders()) {
    const { name, scripts = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const script of ["preinstall", "install", "postinstall"]) {
      if (scripts[script]) problems.push(`${name} has the install script ${script}: ${scripts[script]}`);
    }
    if (existsSync(join(folder, "binding.gyp"))) problems.push(`${name} would be compiled at install`);
  }
}

/** Every entry point of a package, with patterns expanded. */
function entryPoints(name) {
  const folder = join(consumer, "node_modules", name);
  const { exports: entries = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.entries(entries).flatMap(([entry, target]) => {
    if (typeof target === "string") return [];
    const [before, after] = target.default.split("*");
    if (after === undefined) return [entry.replace(/^\./, name)];
    return filesBelow(join(folder, before))
      .filter((file) => file.endsWith(after))
      .map((file) => entry.replace(/^\./, name).replace("*", file.slice(join(folder, before).length, -after.length)));
  });
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

function checkImports(entries) {
  const lines = entries.map((entry) => `await import(${JSON.stringify(entry)});`);
  writeFileSync(
    join(consumer, "imports.mjs"),
    `process.on("warning", (warning) => { if (!/SQLite/.test(warning.message)) throw warning; });
${lines.join("\n")}
const { resource } = await import("setpoint"); const { kindId } = await import("setpoint/kinds");
const { Deployment } = await import("setpoint/kinds/apps/v1");
const Website = resource("web.example.com/v1/Website", { spec: { type: "object", properties: { size: { type: "integer", default: 1 } } } });
const { spec } = Website.withDefaults({ metadata: { name: "a" } });
if (spec.size !== 1 || kindId(Deployment) !== "apps/v1/Deployment") throw new Error("the package does not work");
`,
  );
  writeFileSync(
    join(consumer, "required.cjs"),
    `const { resource } = require("setpoint"); const { Pod } = require("setpoint/kinds/v1");
if (typeof resource !== "function" || Pod.kind !== "Pod") throw new Error("require does not work");
`,
  );
  for (const version of supportedVersions) {
    const node = nodeBinary(version);
    for (const script of ["imports.mjs", "required.cjs"]) {
      try {
        execFileSync(node, ["--disable-warning=ExperimentalWarning", script], {
          cwd: consumer,
          stdio: ["ignore", "inherit", "pipe"],
        });
      } catch (error) {
        problems.push(`${script} on Node ${version}: ${error.stderr}`);
      }
    }
    console.log(
      `Node ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}: ${entries.length} entry points`,
    );
  }
}

/** Type-checks a user's program together with our declarations. */
function checkTypes() {
  for (const [name, text] of Object.entries(consumerProgram)) writeFileSync(join(consumer, name), text);
  try {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", consumer], {
      encoding: "utf8",
    });
    console.log("types: a program with nodenext, every strictness and no skipLibCheck passes");
  } catch (error) {
    problems.push(`types: ${error.stdout}`);
  }
}

const consumerProgram = {
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      target: "es2022",
      lib: ["es2023", "esnext.disposable"],
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      declaration: true,
      noEmit: true,
      skipLibCheck: false,
      types: ["node"],
    },
    files: ["program.ts"],
  }),
  "program.ts": `import { type Client, type NewObject, type ObjectOf, resource } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap } from "setpoint/kinds/v1";
import { NetworkPolicy } from "setpoint/kinds/networking.k8s.io/v1";
import { z } from "zod";
export type * as testing from "setpoint/testing";
export type * as cli from "@setpoint/cli";
export type * as controlPlane from "@setpoint/control-plane";
export type * as sqlite from "@setpoint/sqlite";

export const Website = resource("web.example.com/v1/Website", {
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  status: z.object({ ready: z.int() }),
});
export type Website = ObjectOf<typeof Website>;

export async function use(client: Client): Promise<number> {
  const written: NewObject<Website> = { metadata: { name: "a" }, spec: { image: "nginx" } };
  const site = await client.create(Website, written, { namespace: "default" });
  const kind: "Website" = site.kind;
  const deployment = await client.find(Deployment, kind, { namespace: "default" });
  const { items } = await client.list(ConfigMap);
  const policies: readonly NetworkPolicy[] = (await client.list(NetworkPolicy)).items;
  return site.spec.replicas + (deployment?.status?.readyReplicas ?? 0) + items.length + policies.length;
}
`,
};

try {
  const ours = pack(publishedFolders(), work);
  ours.forEach(checkContents);
  // Type dependencies of our declarations and of the program.
  const extra = ["@types/node", "undici-types", "zod"].map((name) => join(root, "node_modules", name));
  const theirs = pack([...new Set([...runtimeFolders(), ...extra])], work);
  install([...theirs, ...ours]);
  checkScripts();
  checkImports(ours.flatMap(({ name }) => entryPoints(name)));
  checkTypes();
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const problem of problems) console.error(`packaging: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
