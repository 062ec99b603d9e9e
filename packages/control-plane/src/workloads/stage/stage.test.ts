import { seededRandom } from "setpoint/clock";
import { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";
import { renderTemplate } from "./go-template.js";
import { valuesAt } from "./jq-path.js";
import { Stage } from "./stage.js";
import { StageExpressions } from "./stage-expressions.js";
import { chosenStage } from "./stage-match.js";

/** kwok's stock stage that makes a pod ready, shortened. */
const READY_TEMPLATE = `
{{ $now := Now }}
conditions:
{{ range .spec.readinessGates }}
- type: {{ .conditionType | Quote }}
  status: "True"
{{ end }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: Ready
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) | Quote }}
phase: Running
startTime: {{ $now | Quote }}
`;

const stage = (name: string, spec: Omit<Stage["spec"], "resourceRef">) => ({
  metadata: { name },
  spec: { resourceRef: { apiGroup: "v1", kind: "Pod" }, ...spec },
});

describe("stages of kwok", () => {
  it("script pods instead of the simulation: a delay, a status, an event, then a failure", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(
      Stage,
      stage("ready", {
        selector: { matchExpressions: [{ key: ".status.podIP", operator: "DoesNotExist" }] },
        delay: { durationMilliseconds: 5_000 },
        next: { statusTemplate: READY_TEMPLATE, event: { type: "Normal", reason: "Created", message: "by a stage" } },
      }),
    );
    const isReady = '.status.conditions.[] | select( .type == "Ready" ) | .status';
    await client.create(
      Stage,
      stage("fail", {
        selector: {
          matchLabels: { app: "bad" },
          matchExpressions: [{ key: isReady, operator: "In", values: ["True"] }],
        },
        delay: { durationMilliseconds: 10_000 },
        next: { statusTemplate: "phase: Failed\nreason: Scripted\nconditions: []\n" },
      }),
    );
    await simulation.advance(1);
    await simulation.createPod("good");
    await simulation.createPod("bad");
    await simulation.advance(4);
    expect((await simulation.get(Pod, "good")).status?.podIP).toBeUndefined();
    await simulation.advance(4);
    const good = await simulation.get(Pod, "good");
    expect(good.status).toMatchObject({
      phase: "Running",
      containerStatuses: [{ name: "main", image: "nginx", ready: true }],
    });
    expect(await simulation.events("good")).toContain("Created: by a stage");
    await simulation.advance(15);
    expect((await simulation.get(Pod, "bad")).status).toMatchObject({ phase: "Failed", reason: "Scripted" });
    expect((await simulation.get(Pod, "good")).status?.phase).toBe("Running");
    expect(simulation.failures).toEqual([]);
  });

  it("delete pods, finalizers first", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(
      Stage,
      stage("gone", {
        selector: { matchExpressions: [{ key: ".metadata.deletionTimestamp", operator: "Exists" }] },
        delay: { durationMilliseconds: 3_000 },
        next: { finalizers: { empty: true }, delete: true },
      }),
    );
    await simulation.createPod("a");
    await simulation.change(Pod, "a", { metadata: { finalizers: ["example.com/hold"] } });
    await simulation.advance(5);
    await simulation.client.delete(Pod, "a", { namespace: "default" });
    await simulation.advance(1);
    expect(await simulation.find(Pod, "a")).toBeDefined();
    await simulation.advance(5);
    expect(await simulation.find(Pod, "a")).toBeUndefined();
  });

  it("are selected by weight", () => {
    const random = seededRandom(1);
    const stages = [stage("a", { weight: 9 }), stage("b", { weight: 1 })] as unknown as Stage[];
    const counts = { a: 0, b: 0 };
    const expressions = new StageExpressions();
    for (let tries = 0; tries < 1_000; tries++) {
      counts[chosenStage(stages, stages[0]!, expressions, random)!.metadata.name as "a" | "b"]++;
    }
    expect(counts.a).toBeGreaterThan(850);
    expect(counts.b).toBeGreaterThan(50);
  });
});

describe("the templates of stages", () => {
  it("know fields, variables, conditions, ranges and pipelines", () => {
    const data = { a: { b: 1 }, list: ["x", "y"], empty: [] };
    const render = (text: string) => renderTemplate(text, data, { Quote: (value) => JSON.stringify(value) });
    expect(render('{{ .a.b }} {{ .none }} {{ "s" | Quote }}')).toBe('1 <no value> "s"');
    expect(render("{{ range $i, $v := .list }}{{ $i }}{{ $v }}{{ end }}")).toBe("0x1y");
    expect(render("{{ range .empty }}a{{ else }}none{{ end }}")).toBe("none");
    expect(render("{{ with .a }}{{ .b }}{{ $.list }}{{ end }}")).toBe('1["x","y"]');
    expect(render("{{ if eq .a.b 1 }}one{{ else if .a }}a{{ end }}")).toBe("one");
    expect(render("{{ or .none ( index .list 1 ) }}")).toBe("y");
    expect(render("a\n{{- /* nothing */ -}}\nb")).toBe("ab");
  });
});

describe("the paths of stages", () => {
  it("find fields, items and what is selected", () => {
    const pod = { metadata: { owners: [{ kind: "Job" }] }, "x/y": 1, conditions: [{ type: "A", status: "True" }] };
    expect(valuesAt(pod, ".metadata.owners.[].kind")).toEqual(["Job"]);
    expect(valuesAt(pod, '.["x/y"]')).toEqual([1]);
    expect(valuesAt(pod, '.conditions.[] | select( .type == "A" ) | .status')).toEqual(["True"]);
    expect(valuesAt(pod, '.conditions.[] | select( .type == "B" ) | .status')).toEqual([]);
    expect(valuesAt(pod, "length")).toEqual([]);
  });
});
