import type { Client, Kind } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { Druid } from "../druid.js";
import { CLUSTER_LABEL } from "../rendering/naming.js";
import { asApplied, type Child, childrenOf, isOwned, render } from "../rendering/render.js";
import { type ChangePlan, type NextChild, planChange } from "./change-plan.js";
import { CHILD_KINDS, isRefusal, KINDS } from "./cluster-pass.js";
import { asLive, type LiveWorkload } from "./rollout.js";
import { type ClusterSettings, settingsOf } from "./settings.js";

/** Plans what the operator would do if this Druid object were applied. Writes nothing: all applies are dry runs. */
export async function planOnServer(client: Client, wanted: Druid, defaults: ClusterSettings): Promise<ChangePlan> {
  const { name, namespace = "default" } = wanted.metadata;
  const found = await client.find(Druid, name, { namespace });
  const druid = found ? { ...wanted, metadata: { ...wanted.metadata, uid: found.metadata.uid } } : wanted;
  const refs = (druid.spec.extraCommonConfig ?? []).map(({ name = "", namespace: other = namespace }) =>
    client.find(ConfigMap, name, { namespace: other }),
  );
  const rendered = render(
    druid,
    (await Promise.all(refs)).map((map) => map?.data ?? {}),
  );
  const labelSelector = `${CLUSTER_LABEL}=${name}`;
  const lists = await Promise.all(
    Object.values(CHILD_KINDS).map((kind) => client.list(kind as Kind, { namespace, labelSelector })),
  );
  const before = lists
    .flatMap(({ items }) => items)
    .filter((each) => found && isOwned(each, found)) as readonly Child[];
  const trial = client.with({ dryRun: true, fieldManager: "setpoint-druid" });
  const { groups } = rendered;
  const after: NextChild[] = [];
  for (const child of childrenOf(rendered)) {
    const old = before.find((each) => each.kind === child.kind && each.metadata.name === child.metadata.name);
    const group = groups.find(({ workload }) => workload === child);
    const wanted = group && old ? asLive(group, old as unknown as LiveWorkload) : child;
    after.push(old ? await tried(trial, wanted) : { child, isWhole: false });
  }
  return planChange({ druid, groups, before, after }, settingsOf(druid, defaults));
}

async function tried(trial: Client, wanted: Child): Promise<NextChild> {
  try {
    const applied = await trial.apply(KINDS[wanted.kind]!, asApplied(wanted) as never, { force: true });
    return { child: applied as Child, isWhole: true };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { child: wanted, isWhole: false };
  }
}
