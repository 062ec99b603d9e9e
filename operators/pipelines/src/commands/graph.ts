import type { CommandContext } from "setpoint/command";
import type { ResourceName } from "setpoint/graph";
import { readProject } from "../runtime/open-pipelines.js";
import { folderOf, pipelinesOptions } from "./arguments.js";
import { isForScript, printProblems, printValue } from "./printing.js";

/** `setpoint pipelines graph` */
export async function runGraph(context: CommandContext): Promise<number> {
  const project = await readProject(folderOf(context), pipelinesOptions(context));
  const nodes = project.resources
    .map(({ name, refs }) => ({
      kind: name.kind,
      name: name.name,
      refs: refs.map(({ kind, name }) => ({ kind, name })),
    }))
    .sort((left, right) => (text(left) < text(right) ? -1 : 1));
  if (isForScript(context)) printValue(context, { nodes });
  else if (context.values.mermaid) context.stdout(mermaid(nodes));
  else {
    for (const node of nodes) {
      const reads = node.refs.length > 0 ? ` reads ${node.refs.map(text).join(", ")}` : "";
      context.stdout(`${text(node)}${reads}`);
    }
  }
  return printProblems(context, project) > 0 ? 1 : 0;
}

function text({ kind, name }: ResourceName): string {
  return `${kind}/${name}`;
}

function mermaid(nodes: readonly (ResourceName & { readonly refs: readonly ResourceName[] })[]): string {
  const ids = new Map(nodes.map((node, at) => [text(node).toLowerCase(), `n${at}`]));
  return [
    "flowchart LR",
    ...nodes.map((node, at) => `  n${at}["${text(node).replaceAll('"', "#quot;")}"]`),
    ...nodes.flatMap((node, at) =>
      node.refs.flatMap((ref) => {
        const id = ids.get(text(ref).toLowerCase());
        return id === undefined ? [] : [`  ${id} --> n${at}`];
      }),
    ),
  ].join("\n");
}
