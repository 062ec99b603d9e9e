import {
  type Client,
  type Controller,
  controller,
  type Kind,
  type KubeObject,
  type Loop,
  requeueAfter,
} from "setpoint";
import type { WorkloadEnvironment } from "../workloads.js";
import { Stage } from "./stage.js";
import { NOWHERE, stageFunctions } from "./stage-functions.js";
import { stagedKind } from "./stage-match.js";
import { StagePlayer } from "./stage-player.js";

/** The controllers of these kinds play their stages themselves. */
const SIMULATED = ["v1/Pod", "v1/Node"];
/** Retry interval for a kind that is not served yet: its CRD may be applied later than the stage. */
const LOOK_AGAIN_MS = 10_000;

export interface StageControllerOptions extends WorkloadEnvironment {
  readonly client: Client;
  /** Starts another controller. */
  readonly add: (loop: Loop) => void;
}

/** Starts a controller for each kind that stages refer to. That controller plays the stages. */
export function stageController(options: StageControllerOptions): Controller<Stage> {
  const played = new Set(SIMULATED);
  return controller(Stage, {
    name: "stages",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec.resourceRef"] },
    async reconcile(stage) {
      const { apiVersion, kind } = stagedKind(stage);
      const id = `${apiVersion}/${kind}`;
      if (played.has(id)) return;
      const found = await servedKind(options.client, apiVersion, kind);
      if (found === undefined) return requeueAfter(LOOK_AGAIN_MS);
      if (played.has(id)) return;
      played.add(id);
      options.add(stagedController(found, options));
    },
  });
}

function stagedController(kind: Kind, environment: WorkloadEnvironment): Controller<KubeObject> {
  const player = new StagePlayer(kind, environment);
  const play: Parameters<typeof controller<KubeObject, [Kind<Stage>]>>[1]["reconcile"] = async (object, ctx) => {
    const stages = player.stagesOf(object, await ctx.list(Stage));
    if (stages.length === 0) return undefined;
    const functions = stageFunctions(environment.clock.now(), NOWHERE);
    return requeueAfter(await player.play(object, stages, functions, ctx));
  };
  return controller(kind as Kind<KubeObject>, {
    name: `stages-${kind.plural}-${kind.apiVersion.replaceAll(/[^a-z0-9]/g, "-")}`,
    uses: [Stage],
    fieldManager: "kwok-controller",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    // Any change, even of labels or status alone, can move an object to another stage.
    when: { changed: ["metadata", "spec", "status"] },
    reconcile: play,
    deleting: async (object, ctx) => play(object, ctx),
  });
}

async function servedKind(client: Client, apiVersion: string, kind: string): Promise<Kind | undefined> {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const { groups } = await client.discover();
  const versions = groups.find(({ name }) => name === group)?.versions ?? [];
  const resources = versions.find((each) => each.version === version)?.resources ?? [];
  const resource = resources.find((each) => each.kind === kind);
  return resource && { group, version, apiVersion, kind, plural: resource.plural, scope: resource.scope };
}
