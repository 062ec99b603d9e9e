import type { Clock } from "./clock.js";

/** A signal with a timer: dispose it when the guarded work is done. */
export interface TimeoutSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * `AbortSignal.timeout` on an injected clock: aborted after `timeoutMs`, or with the parent's reason as soon as
 * `parent` is aborted. The reason of a timeout is a `DOMException` named `TimeoutError`, unless `reason` makes another.
 *
 * ```ts
 * using deadline = timeoutSignal(clock, 10_000, signal);
 * await probe(deadline.signal);
 * ```
 */
export function timeoutSignal(
  clock: Pick<Clock, "timer">,
  timeoutMs: number,
  parent?: AbortSignal,
  reason: () => Error = () => new DOMException(`no answer within ${timeoutMs} ms`, "TimeoutError"),
): TimeoutSignal {
  const controller = new AbortController();
  const timer = clock.timer(timeoutMs, () => {
    parent?.removeEventListener("abort", onParentAbort);
    controller.abort(reason());
  });
  const onParentAbort = (): void => {
    timer[Symbol.dispose]();
    controller.abort(parent?.reason);
  };
  if (parent?.aborted) onParentAbort();
  else parent?.addEventListener("abort", onParentAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      parent?.removeEventListener("abort", onParentAbort);
    },
  };
}
