import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { Druid } from "./druid.js";

const FOLDER = join(import.meta.dirname, "../../../../shared/fixtures/druid");

/** The published fixtures of druid-operator are beside the project; without them, their tests are skipped. */
export const hasFixtures = existsSync(FOLDER);
export const WITHOUT = hasFixtures ? "" : " (skipped: ../shared/fixtures/druid is absent)";

/** The objects of a file. */
export function fixtures(path: string): readonly { readonly kind: string }[] {
  // The placeholder for a namespace in the scripts of druid-operator.
  const text = readFileSync(join(FOLDER, path), "utf8").replaceAll("CM_NAMESPACE", "default");
  return [...parseAllDocuments(text)].map((each) => each.toJS());
}

/** The Druid object of a file, or its first object. */
export function fixture(path: string): unknown {
  const all = fixtures(path);
  return all.find(({ kind }) => kind === "Druid") ?? all[0];
}

/** As in the file, without defaults. */
export function druidFixture(path: string): Druid {
  return fixture(path) as Druid;
}

/** As a server would store it. */
export function storedFixture(path: string): Druid {
  const druid = Druid.withDefaults(fixture(path) as never) as unknown as Druid;
  return { ...druid, metadata: { namespace: "default", ...druid.metadata } };
}
