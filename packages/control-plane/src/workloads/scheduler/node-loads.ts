import { keyOf } from "setpoint/kinds";
import type { Node, Pod } from "setpoint/kinds/v1";
import { quantityToNumber } from "setpoint/quantity";
import { isPodOver } from "../pod/pod-state.js";
import { type Neighbours, type PlacedPod, repelledBy } from "./neighbours.js";
import type { NodeLoad } from "./placement.js";

type Requests = Readonly<Record<string, number>>;

/** Counts the load of each node incrementally, so that placing a pod does not visit all others. */
export class NodeLoads implements Neighbours {
  /** Placed pods by key. */
  readonly #pods = new Map<string, PlacedPod & { readonly requests: Requests }>();
  /** The keys of pods with required anti-affinity terms. */
  readonly #repelling = new Set<string>();
  readonly #totals = new Map<string, { podCount: number; readonly requested: Record<string, number> }>();

  /** Counts the current state of a pod. */
  see(pod: Pod): void {
    if (!pod.spec.nodeName || isPodOver(pod)) this.forget(keyOf(pod));
    else this.assume(pod, pod.spec.nodeName);
  }

  /** Counts a pod on the node that it is about to be bound to. */
  assume(pod: Pod, node: string): void {
    const key = keyOf(pod);
    this.forget(key);
    const requests = podRequests(pod);
    const { namespace = "", labels = {} } = pod.metadata;
    const repels = repelledBy(pod);
    this.#pods.set(key, { node, requests, namespace, labels, repels });
    if (repels.length > 0) this.#repelling.add(key);
    this.#add(node, requests, 1);
  }

  forget(key: string): void {
    const known = this.#pods.get(key);
    if (!known) return;
    this.#pods.delete(key);
    this.#repelling.delete(key);
    this.#add(known.node, known.requests, -1);
  }

  get placed(): readonly PlacedPod[] {
    return [...this.#pods.values()];
  }

  get repelling(): readonly PlacedPod[] {
    return [...this.#repelling].map((key) => this.#pods.get(key)!);
  }

  of(node: Node): NodeLoad {
    const { podCount = 0, requested = {} } = this.#totals.get(node.metadata.name) ?? {};
    return { node, podCount, requested };
  }

  #add(node: string, requests: Requests, sign: 1 | -1): void {
    const total = this.#totals.get(node) ?? { podCount: 0, requested: {} };
    this.#totals.set(node, total);
    total.podCount += sign;
    for (const [resource, amount] of Object.entries(requests)) {
      total.requested[resource] = (total.requested[resource] ?? 0) + sign * amount;
    }
  }
}

/** The requests of a pod: the sum of its containers or the largest init container, whichever is more. */
export function podRequests({ spec }: Pod): Requests {
  const total: Record<string, number> = {};
  for (const { resources } of spec.containers) {
    for (const [resource, amount] of Object.entries(resources?.requests ?? {})) {
      total[resource] = (total[resource] ?? 0) + quantityToNumber(amount);
    }
  }
  for (const { resources } of spec.initContainers ?? []) {
    for (const [resource, amount] of Object.entries(resources?.requests ?? {})) {
      total[resource] = Math.max(total[resource] ?? 0, quantityToNumber(amount));
    }
  }
  return total;
}
