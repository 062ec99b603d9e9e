import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Declaration, declarationsOf } from "./declaration.js";

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Each folder of `setpoint`, in dependency order, with its purpose. */
const FOLDERS: Readonly<Record<string, string>> = {
  kinds: "Kinds: resources of one's own, built-in ones, and the values in them.",
  client: "The client: requests to an API server, their errors, and how they are sent.",
  informer: "Informers: the caches that watches keep up to date.",
  loop: "What every control loop shares: outcomes, logs, fences, back-off.",
  queue: "The work queue.",
  graph: "`setpoint/graph`: resources that refer to each other, scheduled along their graph.",
  controller: "Controllers and watchers: what users declare, and what runs it.",
  app: "Apps: admission, conversion, routes, manifests and stores.",
  manager: "The manager: everything in one process, with leader election, health, metrics and RBAC.",
  clock: "Time and chance, which everything takes from outside.",
  errors: "Errors as values with stable codes.",
  testing: "`setpoint/testing`: an operator and an API server in one test.",
};

const ENTRIES = [
  "index",
  ...Object.keys(FOLDERS)
    .map((folder) => `${folder}/index`)
    .filter((entry) => !entry.startsWith("testing") && existsSync(file(`packages/setpoint/dist/${entry}.d.ts`))),
  "kinds/quantity",
  "informer/external/redis-bodies",
  "informer/external/memcached-bodies",
];

const exported = [
  ...ENTRIES.flatMap((entry) => declarationsOf(file(`packages/setpoint/dist/${entry}.d.ts`))).filter(
    ({ name }, at, all) => all.findIndex((other) => other.name === name) === at,
  ),
  ...declarationsOf(file("packages/setpoint/dist/testing/index.d.ts")).map((each) => ({ ...each, folder: "testing" })),
].filter(({ folder }) => folder in FOLDERS);

describe("the reference", () => {
  it.each(Object.keys(FOLDERS))("of %s contains every export (-u writes it)", async (folder) => {
    const text = page(
      FOLDERS[folder]!,
      exported.filter((each) => each.folder === folder),
    );
    await expect(text).toMatchFileSnapshot(file(`docs/reference/${folder}.md`));
  });

  it("has a page that lists the others (-u writes it)", async () => {
    const rows = Object.entries(FOLDERS).map(([folder, title]) => `- [${folder}](${folder}.md): ${title}`);
    const text = ["# Reference", "", "Every public export of `setpoint`, by folder.", "", ...rows, ""].join("\n");
    await expect(text).toMatchFileSnapshot(file("docs/reference/README.md"));
  });

  it("says what every function, class and constant guarantees", () => {
    const silent = exported.filter(
      ({ keyword, words }) => words === "" && keyword !== "interface" && keyword !== "type",
    );
    expect(silent.map(({ folder, name }) => `${folder}: ${name}`)).toEqual([]);
  });
});

function page(title: string, declarations: readonly Declaration[]): string {
  const [head, ...rest] = title.split(/(?<=:) /);
  const values = sorted(declarations.filter(({ keyword }) => keyword !== "interface" && keyword !== "type"));
  const types = sorted(declarations.filter(({ keyword }) => keyword === "interface" || keyword === "type"));
  return [
    `# ${(head ?? title).replace(/:$|\.$/, "")}`,
    "",
    ...(rest.length > 0 ? [capitalised(rest.join(" ")), ""] : []),
    "Made from the doc comments by `npx vitest run tools/reference -u`.",
    "",
    ...values.flatMap(section),
    ...(types.length > 0 ? ["## Types", "", ...types.flatMap((each) => section(each, "###"))] : []),
  ].join("\n");
}

function section({ name, words, code }: Declaration, level: unknown = "##"): readonly string[] {
  const heading = typeof level === "string" ? level : "##";
  return [`${heading} ${name}`, "", ...(words === "" ? [] : [words, ""]), "```ts", code, "```", ""];
}

function sorted(declarations: readonly Declaration[]): readonly Declaration[] {
  return [...declarations].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
