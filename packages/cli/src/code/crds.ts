import type { App, Kind, Loop, Resource } from "setpoint";
import { type CommandContext, UsageError } from "setpoint/command";
import type { CrdOptions } from "setpoint/kinds";
import { readyMadeOperators } from "../operators.js";
import { printDocuments } from "./documents.js";
import { loadDeclarations } from "./module-file.js";
import { type WebhookService, webhookServiceOf } from "./webhook-service.js";

/** `setpoint crds`: resolves to the exit code. */
export async function runCrds(context: CommandContext): Promise<number> {
  const { positionals, values } = context;
  if (positionals.length === 0) throw new UsageError("name a module or an operator: setpoint crds FILE.ts");
  const service = webhookServiceOf(values);
  const resources: Resource[] = [];
  const loops: (Loop | App)[] = [];
  for (const path of positionals) {
    const operator = readyMadeOperators.find(({ name }) => name === path);
    if (operator) {
      const kinds = (await operator.kinds?.()) ?? kindsOf(await operator.loops(false));
      const own = kinds.filter((kind): kind is Resource => "crd" in kind);
      if (own.length === 0) throw new UsageError(`${path} has no kinds of its own`);
      resources.push(...own);
      continue;
    }
    const declared = await loadDeclarations(path);
    if (declared.resources.length === 0) throw new UsageError(`${path} declares no kind with resource(…)`);
    resources.push(...declared.resources);
    loops.push(...declared.loops);
  }
  printDocuments(
    context,
    wholeKinds(resources).map((resource) => resource.crd(conversionAt(service, resource, loops))),
  );
  return 0;
}

/** One resource per definition. A module may export older versions of a kind in addition to the one that holds them all. */
function wholeKinds(resources: readonly Resource[]): readonly Resource[] {
  const byName = new Map<string, Resource>();
  for (const resource of resources) {
    const name = `${resource.plural}.${resource.group}`;
    const { versions } = byName.get(name)?.declaration ?? { versions: [] };
    if (resource.declaration.versions.length >= versions.length) byName.set(name, resource);
  }
  return [...byName.values()];
}

/** The webhook of the app with this kind; the app adds the CA when it starts. */
function conversionAt(
  service: WebhookService | undefined,
  resource: Resource,
  loops: readonly (Loop | App)[],
): CrdOptions {
  if (!resource.declaration.versions.some(({ up }) => up)) return {};
  const { kind } = resource;
  if (!service) {
    throw new UsageError(
      `${kind} has a conversion webhook: name the Service of its app with --webhook-service NAMESPACE/NAME. ` +
        "On a laptop you need not install the definition: run(…) of the app does it",
    );
  }
  const app = loops.find((loop): loop is App => loop.type === "app" && loop.kinds.some((own) => own === resource));
  if (!app) throw new UsageError(`${kind} needs a conversion webhook, but the module exports no app(…) with that kind`);
  return { conversionWebhook: { service: { ...service, path: `/${app.name}/convert` } } };
}

function kindsOf(loops: readonly (Loop | App)[]): readonly Kind[] {
  return loops.flatMap((loop): readonly Kind[] => (loop.type === "app" ? loop.kinds : [loop.kind]));
}
