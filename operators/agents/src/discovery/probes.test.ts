import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { expect, it } from "vitest";
import { Probes, type ProbeTarget } from "./probes.js";

const target = (more: Partial<ProbeTarget> = {}): ProbeTarget => ({
  id: "a",
  uid: "1",
  generation: 1,
  fingerprint: "f",
  host: "h",
  timeoutMs: 30_000,
  intervalMs: 3_600_000,
  ...more,
});

function setup(watch: (onChanged: () => void, signal: AbortSignal) => Promise<void>) {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const watched: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const probes = new Probes<ProbeTarget, string>({
    clock,
    random: seededRandom(1),
    ask: async () => {
      asked.push(clock.monotonic());
      return "answer";
    },
    watch: (_target, _answer, signal, onChanged) => {
      watched.push(onChanged);
      signals.push(signal);
      return watch(onChanged, signal);
    },
  });
  return { clock, asked, watched, signals, probes };
}

const forever = (_: () => void, signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

it("a target that announces a change is probed again, at most once a second", async () => {
  const { clock, asked, watched, probes } = setup(forever);
  using _probes = probes;
  probes.want(target());
  await clock.advance(10_000);
  expect(asked).toHaveLength(1);
  for (let at = 0; at < 100; at++) watched[0]!();
  await clock.advance(0);
  expect(asked).toHaveLength(2);
  for (let at = 0; at < 50; at++) {
    watched[0]!();
    await clock.advance(100);
  }
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.length).toBeLessThanOrEqual(8);
  expect(watched).toHaveLength(1);
});

it("a broken watch restarts after the next answer; one that ended normally does not", async () => {
  const broken = setup(() => Promise.reject(new Error("reset")));
  broken.probes.want(target({ intervalMs: 60_000 }));
  await broken.clock.advance(300_000);
  expect(broken.watched.length).toBe(broken.asked.length);
  broken.probes[Symbol.dispose]();
  const silent = setup(async () => {});
  silent.probes.want(target({ intervalMs: 60_000 }));
  await silent.clock.advance(300_000);
  expect(silent.watched).toHaveLength(1);
  silent.probes[Symbol.dispose]();
});

it("announcements for a former object change nothing, and its watch ends", async () => {
  const { clock, asked, watched, signals, probes } = setup(forever);
  using _probes = probes;
  probes.want(target());
  await clock.advance(0);
  probes.want(target({ uid: "2" }));
  await clock.advance(5_000);
  expect(signals[0]!.aborted).toBe(true);
  expect(asked).toHaveLength(2);
  watched[0]!();
  await clock.advance(5_000);
  expect(asked).toHaveLength(2);
  probes.forget("a", "2");
  expect(signals[1]!.aborted).toBe(true);
});

it("a new interval applies at once, not after the old one", async () => {
  const { clock, asked, probes } = setup(forever);
  using _probes = probes;
  probes.want(target());
  await clock.advance(10_000);
  probes.want(target({ intervalMs: 10_000 }));
  await clock.advance(30_000);
  expect(asked.length).toBeGreaterThanOrEqual(3);
});

/** The probed targets, in order; those named `hung…` never answer, those named `bad…` fail at once. */
function setupOrder(options: { readonly limit: number; readonly limitPerHost?: number }) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const probes = new Probes<ProbeTarget, string>({
    clock,
    random: seededRandom(1),
    ask: async ({ id }, signal) => {
      asked.push(id);
      if (id.startsWith("hung")) await forever(() => {}, signal);
      if (id.startsWith("bad")) throw new Error("refused");
      return "answer";
    },
    ...options,
  });
  const want = (id: string, more: Partial<ProbeTarget> = {}) => probes.want(target({ id, host: id, ...more }));
  return { clock, asked, probes, want };
}

it("a silent target frees its slot after half a second, and is awaited until its deadline", async () => {
  const { clock, asked, probes, want } = setupOrder({ limit: 1 });
  using _probes = probes;
  want("hung", { timeoutMs: 30_000 });
  want("healthy");
  await clock.advance(499);
  expect(asked).toEqual(["hung"]);
  await clock.advance(1);
  expect(asked).toEqual(["hung", "healthy"]);
  expect(probes.result(target({ id: "hung" }))).toBeUndefined();
  await clock.advance(29_500);
  expect(probes.result(target({ id: "hung" }))).toMatchObject({ type: "failure", failures: 1 });
});

it("targets that failed before are queued behind new ones", async () => {
  const { clock, asked, probes, want } = setupOrder({ limit: 1 });
  using _probes = probes;
  for (const id of ["bad-1", "bad-2"]) want(id, { intervalMs: 10_000 });
  await clock.advance(5_000);
  want("hung");
  await clock.advance(0);
  // Their new fingerprint causes a probe at once: both are queued before the new ones.
  for (const id of ["bad-1", "bad-2"]) want(id, { intervalMs: 10_000, fingerprint: "other" });
  want("new-1");
  want("new-2");
  await clock.advance(500);
  expect(asked).toEqual(["bad-1", "bad-2", "hung", "new-1", "new-2", "bad-1", "bad-2"]);
});

it("few targets of one host are probed at once, and those of other hosts pass them", async () => {
  const { clock, asked, probes, want } = setupOrder({ limit: 8, limitPerHost: 2 });
  using _probes = probes;
  for (let at = 1; at <= 4; at++) want(`hung-${at}`, { host: "one" });
  want("other");
  await clock.advance(0);
  expect(asked).toEqual(["hung-1", "hung-2", "other"]);
  await clock.advance(500);
  expect(asked).toEqual(["hung-1", "hung-2", "other", "hung-3", "hung-4"]);
});
