import { isSameJson } from "setpoint/kinds";
import type { Json } from "../../api/json.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import { acceptedNames } from "./accepted-names.js";
import {
  type CrdCondition,
  type CrdStatus,
  type CustomResourceDefinition,
  hasCondition,
  withCondition,
} from "./custom-resource-definition.js";

type Verdict = Omit<CrdCondition, "lastTransitionTime">;

/** The next status of a CRD; undefined if it is final. First its names are accepted, then it is established. */
export function nextStatus(
  catalog: ResourceCatalog,
  crd: CustomResourceDefinition,
  now: string,
): CrdStatus | undefined {
  const { status = {} } = crd;
  const isEstablished = hasCondition(crd, "Established");
  const { accepted, conflict } = acceptedNames(catalog, crd, status.acceptedNames);
  const named = withCondition(status.conditions, namesVerdict(conflict), now);
  const conditions = isEstablished ? named : withCondition(named, firstVerdict(conflict), now);
  const next = { ...status, conditions, acceptedNames: accepted };
  if (!isSameJson(next as unknown as Json, status as unknown as Json)) return next;
  if (isEstablished || conflict !== undefined || crd.metadata.deletionTimestamp !== undefined) return undefined;
  return { ...status, conditions: withCondition(conditions, ESTABLISHED, now) };
}

const ESTABLISHED: Verdict = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};

function namesVerdict(conflict: Pick<Verdict, "reason" | "message"> | undefined): Verdict {
  return conflict === undefined
    ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
    : { type: "NamesAccepted", status: "False", ...conflict };
}

function firstVerdict(conflict: object | undefined): Verdict {
  return conflict === undefined
    ? { ...ESTABLISHED, status: "False", reason: "Installing" }
    : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
}
