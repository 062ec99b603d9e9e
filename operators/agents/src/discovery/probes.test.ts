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

it("a target that tells of a change is asked again, at most once a second", async () => {
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

it("a watch that broke begins again after the next answer; one that had nothing to tell does not", async () => {
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

it("what an earlier object's watch tells changes nothing, and its watch ends", async () => {
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
