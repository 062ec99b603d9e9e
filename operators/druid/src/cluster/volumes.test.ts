import type { StatefulSet } from "setpoint/kinds/apps/v1";
import type { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { orphanActions, resizeState } from "./volumes.js";

const NAME = "druid-tiny-historicals";
const NOW_S = 1_800_000_000;
const claim = (ordinal: number, labels: object = {}, more: object = {}): PersistentVolumeClaim =>
  ({
    kind: "PersistentVolumeClaim",
    metadata: { name: `data-${NAME}-${ordinal}`, labels: { nodeSpecUniqueStr: NAME, ...labels }, ...more },
  }) as never;
const pod = (ordinal: number, status: object = {}): Pod =>
  ({
    metadata: { name: `${NAME}-${ordinal}` },
    spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${NAME}-${ordinal}` } }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...status },
  }) as never;
const set = (replicas: number): StatefulSet =>
  ({ kind: "StatefulSet", metadata: { name: NAME }, spec: { replicas }, status: { replicas } }) as never;
const groups = [{ name: NAME, workload: { kind: "StatefulSet" } }] as never;
const marked = (deletionTS: string) => ({ toBeDeleted: "yes", deletionTS });
const actions = (
  claims: readonly PersistentVolumeClaim[],
  pods: readonly Pod[],
  replicas: number,
  own = groups,
  sets = [set(replicas)],
) =>
  orphanActions(claims, pods, own, sets, NOW_S * 1_000, 60_000).map(
    ({ type, claim }) => `${type} ${claim.metadata.name.split("-").at(-1)}`,
  );

describe("claims that no pod needs", () => {
  const pods = [pod(0), pod(1)];
  const four = [0, 1, 2, 3].map((ordinal) => claim(ordinal));

  it("are marked, and deleted a minute later; one that is mounted again is spared [D31]", () => {
    expect(actions(four, pods, 2)).toEqual(["mark 2", "mark 3"]);
    const later = [claim(2, marked(String(NOW_S - 10))), claim(3, marked(String(NOW_S - 60)))];
    expect(actions(later, pods, 2)).toEqual(["wait 2", "delete 3"]);
    expect(actions([claim(2, marked(String(NOW_S - 90)))], [...pods, pod(2)], 3)).toEqual(["unmark 2"]);
  });

  it("are left alone while a pod is pending or not ready [D32]", () => {
    expect(actions(four, [pod(0), pod(1, { phase: "Pending" })], 2)).toEqual([]);
    expect(actions(four, [pod(0, { conditions: [{ type: "Ready", status: "False" }] }), pod(1)], 2)).toEqual([]);
  });

  it("are left alone if there are no pods, and if a group has none [D33]", () => {
    expect(actions(four, [], 0)).toEqual([]);
    const elsewhere = { ...pod(0), metadata: { name: "druid-tiny-brokers-0" }, spec: {} } as never;
    expect(actions(four, [elsewhere], 0)).toEqual([]);
  });

  it("get a new mark if theirs is malformed [D34]", () => {
    expect(actions([claim(2, marked("abc"))], pods, 2)).toEqual(["repair 2"]);
  });

  it("are deleted with a group that left the spec, and kept if somebody else owns them", () => {
    const elsewhere = { ...pod(0), metadata: { name: "druid-tiny-brokers-0" }, spec: {} } as never;
    expect(actions([claim(0)], [elsewhere], 0, [] as never, [])).toEqual(["mark 0"]);
    expect(
      actions([claim(0, {}, { ownerReferences: [{ controller: true }] })], [elsewhere], 0, [] as never, []),
    ).toEqual([]);
  });
});

it("says what a growing claim waits for", () => {
  const growing = {
    metadata: { name: "a" },
    spec: { resources: { requests: { storage: "2Gi" } } },
    status: { capacity: { storage: "1Gi" }, conditions: [{ type: "FileSystemResizePending" }] },
  };
  expect(resizeState(growing as never)).toBe("a has 1Gi of 2Gi (FileSystemResizePending; restart its pod)");
  expect(resizeState({ ...growing, status: { capacity: { storage: "2048Mi" } } } as never)).toBeUndefined();
});
