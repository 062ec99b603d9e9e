import { fieldErrors } from "../../api/error-budget.js";
import { forbiddenField, notSupported, required } from "../../api/field-error.js";
import { validateFieldManager } from "../../api/metadata/object-meta-validation.js";
import { parseBoolean } from "../../api/query-value.js";
import { type FieldError, invalid } from "../../api/status-error.js";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** The query of a create, update or patch. */
export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** The `fieldManager` parameter; empty if absent. */
  readonly fieldManager: string;
  /** The `force` parameter of an apply. */
  readonly force: boolean;
}

const DEFAULT_OPTIONS: WriteOptions = { isDryRun: false, fieldValidation: "Warn", fieldManager: "", force: false };

export function parseWriteOptions(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  isApply = false,
): WriteOptions {
  if (query.size === 0 && !isApply) return DEFAULT_OPTIONS;
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const fieldManager = query.get("fieldManager") ?? "";
  const force = query.get("force");
  const errors: FieldError[] = fieldErrors();
  if (isApply && fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (kind === "PatchOptions" && !isApply && force !== null) {
    errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  errors.push(...validateFieldManager(fieldManager, "fieldManager"));
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (!["", "Ignore", "Strict", "Warn"].includes(fieldValidation)) {
    errors.push(notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: kind }, "", errors);
  return {
    isDryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as FieldValidation),
    fieldManager,
    force: force !== null && parseBoolean(force),
  };
}

/** The field manager. Defaults to the user agent up to its first slash. */
export function managerOf(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== "") return fieldManager;
  const agent = userAgent ?? "";
  const slash = agent.indexOf("/");
  const prefix = slash < 0 ? agent : agent.slice(0, slash);
  if (/^[ -~]{0,128}$/.test(prefix)) return prefix;
  let printable = "";
  for (const character of prefix) if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) printable += character;
  while (Buffer.byteLength(printable) > 128) printable = printable.slice(0, -1);
  return printable;
}
