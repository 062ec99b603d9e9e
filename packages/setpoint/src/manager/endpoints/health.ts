import type { ControllerStatus } from "../../controller/run/controller-status.js";
import type { InformerStatus } from "../../informer/informer.js";

type NamedInformer = InformerStatus & { readonly kind: string };

/** Without this informer a controller cannot work. */
const isTrouble = ({ phase, synced }: NamedInformer): boolean =>
  !synced || phase === "waiting-for-kind" || phase === "stopped";

/** The informer has an ageing list: the process stays ready, but somebody should look. */
const isStrained = (informer: NamedInformer): boolean => !isTrouble(informer) && informer.phase === "backing-off";

/** `informer apps/v1/Deployment: listing, not synced; last error: …` */
function described({ kind, phase, synced, lastError }: NamedInformer): string {
  const error = lastError ? `; last error: ${lastError.code} ${lastError.message}` : "";
  return `informer ${kind}: ${phase}${synced ? "" : ", not synced"}${error}`;
}

/** `informer apps/v1/Deployment: watching, synced, resourceVersion 7; last error at 2026-01-01T00:00:00.000Z: …` */
function describedInFull({ kind, phase, synced, lastResourceVersion, lastError }: NamedInformer): string {
  const error = lastError ? `; last error at ${lastError.at}: ${lastError.code} ${lastError.message}` : "";
  const version = lastResourceVersion ? `, resourceVersion ${lastResourceVersion}` : "";
  return `informer ${kind}: ${phase}, ${synced ? "synced" : "not synced"}${version}${error}`;
}

type Statuses = Iterable<Pick<ControllerStatus, "informers">>;

function informersThat(
  holds: (informer: NamedInformer) => boolean,
  statuses: Statuses,
  line = described,
): readonly string[] {
  const lines = [...statuses].flatMap(({ informers }) => informers.filter(holds).map(line));
  return [...new Set(lines)];
}

/** What keeps a process from being ready, one reason per line. */
export function controllerTrouble(statuses: Statuses): readonly string[] {
  return informersThat(isTrouble, statuses);
}

/** What does not, but should be known: informers that do not see changes. */
export function controllerStrain(statuses: Statuses): readonly string[] {
  return informersThat(isStrained, statuses);
}

/** All informers, whatever their state. */
export function informerLines(statuses: Statuses): readonly string[] {
  return informersThat(() => true, statuses, describedInFull);
}
