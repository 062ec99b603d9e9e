import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { InformerEvent } from "./informer.js";
import { Informers, type InformersOptions } from "./informers.js";
import { type Script, ScriptedApi, Widget } from "./reflector/scripted-api.testing.js";

/** Longer than any backoff with its jitter. */
export const PAST_BACKOFF_MS = 60_001;
export const LISTS: InformersOptions = { streamsLists: false };

/** An informer of widgets on a scripted API server, under a virtual clock, and what its handler has seen. */
export function start(script: Script, options: InformersOptions = {}) {
  const clock = new VirtualClock();
  const api = new ScriptedApi(script);
  const informers = new Informers(api, { clock, random: seededRandom(7), ...options });
  const widgets = informers.for(Widget);
  const seen: string[] = [];
  const handler = widgets.addHandler((event: InformerEvent<Widget>) => {
    const unknown = event.type === "delete" && event.finalStateUnknown ? "?" : "";
    seen.push(`${event.type}${unknown} ${event.key}@${event.object?.metadata.resourceVersion}`);
  });
  const keys = (): string[] => [...widgets.keys()].map((key) => key.replace("default/", "")).sort();
  return { clock, api, informers, widgets, seen, handler, keys };
}

export const versions = (calls: readonly { readonly query: Readonly<Record<string, string>> }[]): string[] =>
  calls.map((call) => call.query.resourceVersion ?? "");
