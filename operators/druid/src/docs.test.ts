import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandContext } from "setpoint/command";
import { describe, expect, it } from "vitest";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { runRender } from "./run-command.js";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
}

const page = readFileSync(join(import.meta.dirname, "../../../docs/druid.md"), "utf8");
const specOf = (kind: { crd(): object }): Schema => {
  const { spec } = kind.crd() as { spec: { versions: readonly { schema: { openAPIV3Schema: Schema } }[] } };
  return spec.versions[0]!.schema.openAPIV3Schema.properties!.spec!;
};
const rows = (title: string): readonly string[] => {
  const section = page.split(`## ${title}\n`)[1]!.split("\n## ")[0]!;
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!);
};

describe("docs/druid.md", () => {
  it("lists each field of a cluster, a group and an ingestion once, and no other", () => {
    const { properties = {} } = specOf(Druid);
    const node = properties.nodes!.additionalProperties!.properties!;
    expect([...rows("Fields of a cluster")].sort()).toEqual(
      [...new Set([...Object.keys(properties), ...Object.keys(node)])].sort(),
    );
    const ingestion = specOf(DruidIngestion).properties!;
    const fields = [...Object.keys(ingestion), ...Object.keys(ingestion.ingestion!.properties!)];
    expect([...rows("Fields of an ingestion")].sort()).toEqual(fields.sort());
  });

  it("lists each event and each condition reason in the sources", () => {
    const files = sources(import.meta.dirname);
    const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
    const events = [
      ...text.matchAll(/"(Druid(?:Operator|Finalizer|API|Ingestion|Drift|Extra|Field|NodeRollingDeploy)\w*)"/g),
    ];
    const known = new Set(events.map(([, reason]) => reason!).filter((reason) => reason !== DruidIngestion.kind));
    for (const verb of ["Create", "Update"])
      for (const end of ["Success", "Fail"]) known.add(`DruidIngestionController${verb}${end}`);
    expect([...rows("Events")].sort()).toEqual([...known].sort());
    const reasons = [...text.matchAll(/reason: "(\w+)"/g)].map(([, reason]) => reason!);
    expect(reasons.filter((reason) => !page.includes(`\`${reason}\``) && reason !== "Suspended")).toEqual([]);
  });

  it("shows the renderer's output for its example", async () => {
    const [, example, rendered] = /## A worked example\n+```yaml\n([\s\S]*?)```[\s\S]*?```yaml\n([\s\S]*?)```/.exec(
      page,
    )!;
    const folder = mkdtempSync(join(tmpdir(), "druid-docs-"));
    writeFileSync(join(folder, "small.yaml"), example!);
    let out = "";
    const context = {
      values: { file: join(folder, "small.yaml"), output: "yaml" },
      stdout: (text: string) => void (out += text),
    };
    await runRender(context as unknown as CommandContext);
    rmSync(folder, { recursive: true });
    expect(`${out}\n`).toBe(rendered);
  });
});

function sources(folder: string): readonly string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .filter((file) => file.endsWith(".ts") && !/(test|testing|suite)\.ts$/.test(file))
    .map((file) => join(folder, file));
}
