import { goSyntax, goTypeName, goValue } from "../api/go-format.js";
import { isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { ItemError, itemElement } from "./list-item.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import { OwnershipError } from "./ownership-error.js";
import { elementText, fieldElement, type PathElement } from "./path-element.js";

/** A value that does not fit its merge type. The message is kube-apiserver's. */
export class TypedValueError extends OwnershipError {
  constructor(problems: readonly Problem[]) {
    super(
      problems.length === 1
        ? problemText(problems[0]!)
        : ["errors:", ...problems.map((problem) => `  ${problemText(problem)}`)].join("\n"),
    );
  }
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Checks a value before it is merged or compared. Stored values may contain duplicates, applied ones may not. */
export function checkTyped(type: MergeType, value: Json, { allowDuplicates = false } = {}): void {
  if (!isTyped(type, value, allowDuplicates)) report(type, value, allowDuplicates);
}

/** Checks an object to be stored, except the parts that it shares with a checked one. */
export function checkTypedUpdate(type: MergeType, object: JsonObject, checked: JsonObject): void {
  for (const key in object) {
    const part = object[key]!;
    if (part === checked[key]) continue;
    const fieldType = type.map?.fields.get(key)?.type ?? type.map?.others;
    if (fieldType === undefined || !isTyped(fieldType, part, true)) report(type, object, true);
  }
}

/** Whether a value fits its type, without details. */
export function isTyped(type: MergeType, value: Json, allowDuplicates: boolean): boolean {
  switch (partFor(type, value)) {
    case "scalar":
      return scalarProblem(type.scalar!, value) === undefined;
    case "map": {
      if (value === null) return true;
      if (!isObject(value)) return false;
      const { fields, others } = type.map!;
      for (const key in value) {
        const fieldType = fields.get(key)?.type ?? others;
        if (fieldType === undefined || !isTyped(fieldType, value[key]!, allowDuplicates)) return false;
      }
      return true;
    }
    case "list": {
      if (value === null) return true;
      if (!isArray(value)) return false;
      const list = type.list!;
      if (list.relationship === "associative" && !hasNames(list, value, allowDuplicates)) return false;
      for (const item of value) if (!isTyped(list.items, item, allowDuplicates)) return false;
      return true;
    }
    default:
      return true;
  }
}

function hasNames(list: ListType, items: readonly Json[], allowDuplicates: boolean): boolean {
  try {
    const names = items.map((item) => itemElement(list, item));
    return allowDuplicates || new Set(names).size === items.length;
  } catch (error) {
    if (error instanceof ItemError) return false;
    throw error;
  }
}

/** Throws an error that lists all problems with their paths. */
function report(type: MergeType, value: Json, allowDuplicates: boolean): void {
  const problems: Problem[] = [];
  const path: PathElement[] = [];
  check(type, value);
  if (problems.length > 0) throw new TypedValueError(problems);

  function add(message: string): void {
    problems.push({ path: path.map(elementText).join(""), message });
  }

  function check(type: MergeType, value: Json): void {
    const part = partFor(type, value);
    if (part === "map") checkMap(type.map!, value);
    else if (part === "scalar") checkScalar(type.scalar!, value);
    else if (part === "list") checkList(type.list!, value);
  }

  function checkScalar(scalar: NonNullable<MergeType["scalar"]>, value: Json): void {
    const message = scalarProblem(scalar, value);
    if (message !== undefined) add(message);
  }

  function checkList(list: ListType, value: Json): void {
    if (value === null) return;
    if (!isArray(value)) {
      add(`expected list, got &{${goValue(value)}}`);
      return;
    }
    const seen = new Set<PathElement>();
    for (const [index, item] of value.entries()) {
      let element: PathElement = `i:${index}`;
      if (list.relationship === "associative") {
        try {
          element = itemElement(list, item);
        } catch (error) {
          if (error instanceof ItemError) {
            add(`element ${index}: ${error.message}`);
            return;
          }
          throw error;
        }
        if (seen.has(element) && !allowDuplicates) add(`duplicate entries for key ${elementText(element)}`);
        seen.add(element);
      }
      path.push(element);
      check(list.items, item);
      path.pop();
    }
  }

  function checkMap(map: MapType, value: Json): void {
    if (value === null) return;
    if (!isObject(value)) {
      add(`expected map, got &{${goValue(value)}}`);
      return;
    }
    for (const key of Object.keys(value)) {
      const declared = map.fields.get(key);
      const type = declared?.type ?? map.others;
      path.push(declared?.element ?? fieldElement(key));
      if (type === undefined) {
        add("field not declared in schema");
        path.pop();
        return;
      }
      check(type, value[key]!);
      path.pop();
    }
  }
}

/** The part of a type that handles a value: by the value's form, or the first part if the type lacks that form. */
export function partFor(type: MergeType, value: Json | undefined): "map" | "scalar" | "list" | undefined {
  if (value !== undefined && value !== null) {
    if (isArray(value)) {
      if (type.list !== undefined) return "list";
    } else if (typeof value === "object") {
      if (type.map !== undefined) return "map";
    } else if (type.scalar !== undefined) return "scalar";
  }
  if (type.map !== undefined) return "map";
  if (type.scalar !== undefined) return "scalar";
  return type.list === undefined ? undefined : "list";
}

/** The problem with a scalar. `side` says which of two compared values it is. */
export function scalarProblem(
  scalar: NonNullable<MergeType["scalar"]>,
  value: Json | undefined,
  side = "",
): string | undefined {
  if (value === undefined || value === null) return undefined;
  switch (scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : `${side}expected numeric (int or float), got ${goTypeName(value)}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `${side}expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `${side}expected boolean, got &{${goValue(value)}}`;
    case "untyped":
      return typeof value === "object" ? `${side}expected any scalar, got &{${goValue(value)}}` : undefined;
  }
}

function problemText(problem: Problem): string {
  return problem.path === "" ? problem.message : `${problem.path}: ${problem.message}`;
}
