import { type Client, SetpointError } from "setpoint";
import type { DiscoveredResource } from "setpoint/client";
import { UsageError } from "setpoint/command";
import { type UntypedKind, untypedKind } from "setpoint/kinds";

interface Served extends DiscoveredResource {
  readonly group: string;
  readonly version: string;
}

/**
 * The kind that a word means: plural, singular, short name or kind, with the group after a dot if needed
 * (`deployments.apps`). Throws a `UsageError` with similar names.
 */
export async function findKind(client: Client, word: string): Promise<UntypedKind> {
  const [name = "", ...rest] = word.toLowerCase().split(".");
  const group = rest.join(".");
  const served = await servedResources(client);
  const found = served.find(
    (each) =>
      (group === "" || each.group === group || `${each.version}.${each.group}` === group) &&
      [each.plural, each.singular, each.kind.toLowerCase(), ...each.shortNames].includes(name),
  );
  if (!found) throw new UsageError(`the server has no kind ${JSON.stringify(word)}${near(name, served)}`);
  return kindOf(found);
}

/** The kind of an object in a file; undefined if the server does not serve it. */
export async function findKindOf(client: Client, apiVersion: string, kind: string): Promise<UntypedKind | undefined> {
  const found = (await servedResources(client)).find(
    (each) => each.kind === kind && (each.group === "" ? each.version : `${each.group}/${each.version}`) === apiVersion,
  );
  return found && kindOf(found);
}

/** `KIND NAME`, or `KIND/NAME`: what is left of the arguments. */
export function kindAndNames(positionals: readonly string[]): { readonly kind: string; readonly names: string[] } {
  const [first, ...rest] = positionals;
  if (first === undefined) throw new UsageError("name a kind, for example: namespaces");
  const slash = first.indexOf("/");
  if (slash < 0) return { kind: first, names: rest };
  const kind = first.slice(0, slash);
  const names = positionals.map((each) => {
    if (each.startsWith(`${kind}/`)) return each.slice(kind.length + 1);
    throw new UsageError(`${each}: one kind at a time, all as ${kind}/NAME`);
  });
  return { kind, names };
}

/** `KIND NAME` for commands that look at one object. */
export function kindAndName(positionals: readonly string[]): { readonly kind: string; readonly name: string } {
  const { kind, names } = kindAndNames(positionals);
  const [name, ...more] = names;
  if (!name || more.length > 0) throw new UsageError(`name the object: ${kind} NAME`);
  return { kind, name };
}

/** In the server's order of preference, without failed groups. */
async function servedResources(client: Client): Promise<readonly Served[]> {
  const { groups, failures } = await client.discover();
  const served = groups.flatMap((group) =>
    group.versions.flatMap(({ version, resources }) =>
      resources.filter(({ verbs }) => verbs.includes("get")).map((each) => ({ ...each, group: group.name, version })),
    ),
  );
  if (served.length === 0 && failures[0]) {
    throw new SetpointError("RESPONSE_INVALID", `${client.server} serves no kinds`, { cause: failures[0].error });
  }
  return served;
}

function kindOf({ group, version, kind, plural, scope }: Served): UntypedKind {
  const id = group === "" ? `${version}/${kind}` : `${group}/${version}/${kind}`;
  return untypedKind(id as `${string}/${string}`, { plural, scope });
}

function near(name: string, served: readonly Served[]): string {
  const close = served.map(({ plural }) => plural).filter((plural) => plural.startsWith(name.slice(0, 3)));
  return close.length > 0 ? `; it has ${[...new Set(close)].slice(0, 5).join(", ")}` : "";
}
