import type { InformerEvent } from "../../informer/informer.js";
import type { KubeObject } from "../../kinds/object.js";
import type { Priority } from "../../queue/ready-lines.js";
import type { OwnWrites } from "../apply/own-writes.js";
import { ownerKeyOf } from "../apply/ownership.js";
import type { Controller, Predicate, WatchDeclaration } from "../controller.js";
import { requestOf } from "../run/directives.js";
import type { SpanOrigin } from "../timeline/traces.js";
import type { Cause, ObjectChange } from "./cause.js";
import type { DependencyIndex, ObjectStep } from "./dependency-index.js";
import type { KindSource } from "./kind-source.js";
import { whereItCounts } from "./predicate.js";

export interface RouterOptions {
  readonly controller: Controller;
  readonly dependencies: DependencyIndex;
  readonly ownWrites: OwnWrites;
  readonly enqueue: (key: string, cause: Cause, priority: Priority) => void;
  /** Called for each change of the controller's own objects, before the key is queued. */
  readonly onChange: (key: string, old: KubeObject, object: KubeObject) => void;
  /** Called for each object of another kind that is gone, so that memory of it can be freed. */
  readonly onGone: (source: string, key: string) => void;
  /** Called with the state of the object that a key is queued for. */
  readonly onOrigin?: (key: string, origin: SpanOrigin) => void;
}

type Event = InformerEvent<KubeObject>;

/** Decides which keys run because of an informer's event, and with which cause. */
export class EventRouter {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** An event of the controller's own kind. */
  onPrimary(source: KindSource, event: Event): void {
    const { ownWrites } = this.#options;
    const { key } = event;
    if (ownWrites.hold(source.id, key, () => this.onPrimary(source, event))) return;
    const enqueue = this.#enqueuer(source, event);
    const writer = ownWrites.take(source.id, key, event.type === "delete" ? undefined : event.object);
    try {
      if (event.type === "add") this.#onAdd(event, enqueue);
      else if (event.type === "delete") enqueue(key, { type: "deleted" }, "normal");
      else if (event.isResync) enqueue(key, { type: "resync" }, "low");
      else if (writer !== key) this.#onUpdate(key, event.old, event.object, enqueue);
    } finally {
      if (!isQuiet(event)) this.#wakeReaders(source, event, writer);
    }
  }

  /** An event of a kind that the controller owns or uses. */
  onDependency(source: KindSource, event: Event): void {
    const { controller, ownWrites, dependencies } = this.#options;
    if (isQuiet(event)) return;
    if (ownWrites.hold(source.id, event.key, () => this.onDependency(source, event))) return;
    const writer = ownWrites.take(source.id, event.key, event.type === "delete" ? undefined : event.object);
    if (event.type === "delete") this.#options.onGone(source.id, event.key);
    if (!source.isOwned && !dependencies.isRead(source.id)) return;
    const enqueue = this.#enqueuer(source, event);
    const step = stepOf(source, event);
    const woken = new Set<string>();
    if (source.isOwned) {
      for (const object of [step.old, step.object]) {
        const owner = object && ownerKeyOf(object, controller.kind);
        if (owner === undefined || owner === writer || woken.has(owner)) continue;
        woken.add(owner);
        enqueue(owner, { type: "owned", kind: source.id, key: event.key, change: changeOf(event) }, "normal");
      }
    }
    this.#wakeReaders(source, event, writer, woken);
  }

  /** An event of a kind that is watched with its own mapping. */
  onWatched(watch: WatchDeclaration, source: KindSource, event: Event): void {
    if (isQuiet(event)) return;
    const { old, object } = stepOf(source, event);
    const wake = (): void => {
      const keys = new Set([old, object].flatMap((state) => (state ? watch.map(state as never) : [])));
      const cause: Cause = { type: "dependency", kind: source.id, key: event.key, change: changeOf(event) };
      const enqueue = this.#enqueuer(source, event);
      for (const key of keys) enqueue(key, cause, "normal");
    };
    if (event.type === "delete") wake();
    else whereItCounts(watch.when as Predicate | undefined, old, object, wake);
  }

  /** Queues keys because of an event, and records the object's state. */
  #enqueuer(source: KindSource, event: Event): RouterOptions["enqueue"] {
    const { enqueue, onOrigin } = this.#options;
    const resourceVersion = event.object?.metadata.resourceVersion;
    if (!onOrigin || !resourceVersion) return enqueue;
    return (key, cause, priority) => {
      onOrigin(key, { source: source.id, key: event.key, resourceVersion });
      enqueue(key, cause, priority);
    };
  }

  #onAdd({ key, object, isInInitialList }: Event & { type: "add" }, enqueue: RouterOptions["enqueue"]): void {
    whereItCounts(this.#options.controller.when, undefined, object, () =>
      enqueue(key, { type: "created", isInInitialList }, isInInitialList ? "low" : "normal"),
    );
  }

  #onUpdate(key: string, old: KubeObject, object: KubeObject, enqueue: RouterOptions["enqueue"]): void {
    const { controller, onChange } = this.#options;
    onChange(key, old, object);
    const by = requestOf(old, object);
    if (by) enqueue(key, { type: "requested", by }, "high");
    else if (!old.metadata.deletionTimestamp && object.metadata.deletionTimestamp) {
      enqueue(key, { type: "deleted" }, "normal");
    } else whereItCounts(controller.when, old, object, () => enqueue(key, { type: "updated" }, "normal"));
  }

  #wakeReaders(source: KindSource, event: Event, writer: string | undefined, woken: Set<string> = new Set()): void {
    const { dependencies } = this.#options;
    if (!dependencies.isRead(source.id)) return;
    const enqueue = this.#enqueuer(source, event);
    const cause: Cause = { type: "dependency", kind: source.id, key: event.key, change: changeOf(event) };
    for (const reader of dependencies.readersOf(stepOf(source, event))) {
      if (reader === writer || woken.has(reader)) continue;
      woken.add(reader);
      enqueue(reader, cause, "normal");
    }
  }
}

/** Initial-list and resync events never requeue readers. */
function isQuiet(event: Event): boolean {
  return (event.type === "add" && event.isInInitialList) || (event.type === "update" && event.isResync);
}

function changeOf(event: Event): ObjectChange {
  return event.type === "add" ? "created" : event.type === "update" ? "updated" : "deleted";
}

function stepOf(source: KindSource, event: Event): ObjectStep {
  const old = event.type === "update" ? event.old : event.type === "delete" ? event.object : undefined;
  const object = event.type === "delete" ? undefined : event.object;
  const indexed = (index: string): readonly string[] => {
    const values = source.use.indexes?.[index];
    return values ? [old, object].flatMap((state) => (state ? values(state as never) : [])) : [];
  };
  return { source: source.id, key: event.key, old, object, indexed };
}
