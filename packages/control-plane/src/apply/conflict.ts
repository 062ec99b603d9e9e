import { goQuote } from "../api/go-format.js";
import { StatusError } from "../api/status-error.js";
import { pathText } from "./field-set.js";
import { type Manager, managerId } from "./managed-fields.js";
import type { PathElement } from "./path-element.js";

/** A field that an apply would change, but another manager owns. */
export interface Conflict {
  readonly manager: Manager;
  readonly path: readonly PathElement[];
}

/** An apply that would change fields of other managers. */
export class ConflictsError extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(conflictMessage(conflicts));
    this.conflicts = conflicts;
  }

  /** The response: 409 with one cause per field. */
  toStatus(): StatusError {
    return new StatusError(409, "Conflict", this.message, {
      causes: this.conflicts.map(({ manager, path }) => ({
        reason: "FieldManagerConflict",
        message: `conflict with ${managerText(manager)}`,
        field: pathText(path),
      })),
    });
  }
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`;
  }
  const byManager = new Map<string, Conflict[]>();
  for (const conflict of conflicts) {
    const id = managerId(conflict.manager);
    const same = byManager.get(id);
    if (same === undefined) byManager.set(id, [conflict]);
    else same.push(conflict);
  }
  const lines = [...byManager.keys()].sort().flatMap((id) => {
    const group = byManager.get(id)!;
    return [`conflicts with ${managerText(group[0]!.manager)}:`, ...group.map(({ path }) => `- ${pathText(path)}`)];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function managerText(manager: Manager): string {
  const subresource = manager.subresource === "" ? "" : ` with subresource ${goQuote(manager.subresource)}`;
  return `${goQuote(manager.name)}${subresource}${manager.isApplier ? "" : ` using ${manager.apiVersion}`}`;
}
