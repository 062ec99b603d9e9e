import { root } from "../guards/sources.js";
import { declarationsOf } from "../reference/declaration.js";
import { type Block, declaredIn, imports } from "./block.js";

/** The modules from which a block without imports may use names; the first that exports a name wins. */
const MODULES: Readonly<Record<string, string>> = {
  setpoint: "packages/setpoint/dist/index.d.ts",
  "setpoint/app": "packages/setpoint/dist/app/index.d.ts",
  "setpoint/client": "packages/setpoint/dist/client/index.d.ts",
  "setpoint/clock": "packages/setpoint/dist/clock/index.d.ts",
  "setpoint/controller": "packages/setpoint/dist/controller/index.d.ts",
  "setpoint/errors": "packages/setpoint/dist/errors/index.d.ts",
  "setpoint/graph": "packages/setpoint/dist/graph/index.d.ts",
  "setpoint/informer": "packages/setpoint/dist/informer/index.d.ts",
  "setpoint/kinds": "packages/setpoint/dist/kinds/index.d.ts",
  "setpoint/manager": "packages/setpoint/dist/manager/index.d.ts",
  "setpoint/queue": "packages/setpoint/dist/queue/index.d.ts",
  "setpoint/quantity": "packages/setpoint/dist/kinds/quantity.d.ts",
  "setpoint/testing": "packages/setpoint/dist/testing/index.d.ts",
  "@setpoint/sqlite/graph-store": "packages/sqlite/dist/graph-store.d.ts",
  "@setpoint/control-plane": "packages/control-plane/dist/index.d.ts",
  "setpoint/redis": "packages/setpoint/dist/informer/external/redis-bodies.d.ts",
  "setpoint/kinds/v1": "packages/setpoint/dist/kinds/builtin/v1.d.ts",
  "setpoint/kinds/apps/v1": "packages/setpoint/dist/kinds/builtin/apps/v1.d.ts",
};

/** Each exported name, with its import. */
const exported = new Map(
  Object.entries(MODULES)
    .reverse()
    .flatMap(([module, file]) =>
      declarationsOf(`${root}${file}`).map(({ name, keyword }) => {
        const type = keyword === "interface" || keyword === "type" ? "type " : "";
        return [name, `import { ${type}${name} } from "${module}";`] as const;
      }),
    ),
);

/** The imports, on one line, that the blocks of a module leave out. */
export function importsLeftOut(blocks: readonly Block[]): string {
  const written = blocks.flatMap(({ lines }) => lines.filter((line) => line.startsWith("import "))).join("\n");
  const known = new Set([...wordsOf(written), ...blocks.flatMap(declaredIn)]);
  const words = blocks.filter((block) => !imports(block)).flatMap(({ lines }) => wordsOf(lines.join("\n")));
  return [...new Set(words)]
    .filter((word) => !known.has(word))
    .flatMap((word) => exported.get(word) ?? [])
    .join(" ");
}

function wordsOf(code: string): readonly string[] {
  return code.match(/[A-Za-z_$][\w$]*/g) ?? [];
}
