import type { CommandContext } from "setpoint/command";
import { formatted, outputFormat } from "../objects/output.js";

/** Prints objects so that `apply -f -` takes them: YAML documents, or a List in JSON. */
export function printDocuments({ values, stdout }: CommandContext, objects: readonly object[]): void {
  if (outputFormat(values.output) === "json") {
    stdout(formatted({ apiVersion: "v1", kind: "List", items: objects }, "json"));
    return;
  }
  stdout(objects.map((object) => formatted(object, "yaml")).join("\n---\n"));
}
