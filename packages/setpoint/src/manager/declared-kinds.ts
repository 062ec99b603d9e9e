import type { App } from "../app/app.js";
import type { Controller, ScopedKind } from "../controller/controller.js";
import type { Loop } from "../controller/loop.js";
import { Namespace } from "../kinds/builtin/v1.js";
import { type Kind, kindId } from "../kinds/kind.js";
import { loopsOf } from "./loops.js";

/** Every kind that these loops declare in a cluster (the own where left out), each once. */
export function declaredKinds(loops: readonly (Loop | App)[], cluster?: string): readonly Kind[] {
  const uses = loopsOf(loops).flatMap((loop): readonly ScopedKind[] =>
    loop.type === "controller"
      ? [{ kind: loop.kind }, ...loop.owns, ...loop.uses, ...loop.watches, ...followed(loop)]
      : [{ kind: loop.kind }],
  );
  const kinds = uses.filter((use) => use.cluster === cluster).map(({ kind }) => kind);
  return [...new Map(kinds.map((kind) => [kindId(kind), kind])).values()];
}

/** Who chooses namespaces by their labels watches them. */
// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
export function followed({ namespaceSelector }: Controller<any>): readonly ScopedKind[] {
  return namespaceSelector === undefined ? [] : [{ kind: Namespace }];
}
