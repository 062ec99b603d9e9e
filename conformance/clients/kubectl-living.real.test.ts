import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LivingPlane } from "./living-plane.js";

/** kubectl on running workloads, which neither server of the other kubectl suite has. */
describe("kubectl on a control plane with workloads", () => {
  let living: LivingPlane;
  beforeAll(async () => {
    living = await LivingPlane.start();
    await living.output("kubectl create deployment web --image=web:1 --replicas=2");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
  });
  afterAll(() => living?.[Symbol.asyncDispose]());

  const image = (): Promise<string> =>
    living.output("kubectl get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}'");

  it("follows a rollout, tells its history, undoes it and restarts", async () => {
    await living.output("kubectl set image deployment/web web=web:2");
    await living.output("kubectl annotate deployment/web kubernetes.io/change-cause='second image'");
    expect(await living.output("kubectl rollout status deployment/web --timeout=60s")).toContain(
      'deployment "web" successfully rolled out',
    );
    const history = await living.output("kubectl rollout history deployment/web");
    expect(
      history
        .split("\n")
        .slice(2)
        .map((line) => line.split(/\s+/)[0]),
    ).toEqual(["1", "2"]);
    expect(await living.output("kubectl rollout history deployment/web --revision=1")).toContain("web:1");
    await living.output("kubectl rollout undo deployment/web");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
    expect(await image()).toBe("web:1");
    await living.output("kubectl rollout undo deployment/web --to-revision=2");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
    expect(await image()).toBe("web:2");
    const pods = await living.output("kubectl get pods -l app=web -o name");
    await living.output("kubectl rollout restart deployment/web");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
    expect(await living.output("kubectl get pods -l app=web -o name")).not.toBe(pods);
  });

  it("pauses and resumes a rollout", async () => {
    await living.output("kubectl rollout pause deployment/web");
    await living.output("kubectl set image deployment/web web=web:3");
    const updated = "kubectl get deployment web -o jsonpath='{.status.updatedReplicas}'";
    await living.output("kubectl rollout resume deployment/web");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
    expect(await living.output(updated)).toBe("2");
    expect(
      (await living.run("kubectl rollout pause deployment/web; kubectl rollout pause deployment/web")).stderr,
    ).toBe('error: deployments.apps "web" is already paused\n');
    await living.output("kubectl rollout resume deployment/web");
  });

  it("tells of a rollout that does not get on", async () => {
    const patch = JSON.stringify({
      spec: {
        progressDeadlineSeconds: 2,
        template: { metadata: { annotations: { "simulation.setpoint.dev/failure": "image-pull" } } },
      },
    });
    await living.output(`kubectl patch deployment web -p '${patch}'`);
    const { code, stderr } = await living.run("kubectl rollout status deployment/web --timeout=60s");
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: deployment "web" exceeded its progress deadline\n' });
    await living.output(`kubectl patch deployment web -p '{"spec":{"progressDeadlineSeconds":600}}'`);
    await living.output("kubectl rollout undo deployment/web");
    await living.output("kubectl rollout status deployment/web --timeout=60s");
  });

  it("waits for, scales and exposes", async () => {
    await living.output("kubectl wait --for=condition=Available deployment/web --timeout=60s");
    await living.output("kubectl scale deployment/web --replicas=3");
    await living.output("kubectl wait --for=jsonpath='{.status.readyReplicas}'=3 deployment/web --timeout=60s");
    await living.output("kubectl expose deployment web --port=80");
    await living.output(
      "kubectl wait --for=jsonpath='{.endpoints[2].conditions.ready}'=true --timeout=60s endpointslices -l kubernetes.io/service-name=web",
    );
  });

  it("drains a node, around a disruption budget", async () => {
    const node = await living.output("kubectl get nodes -o jsonpath='{.items[0].metadata.name}'");
    await living.output("kubectl create poddisruptionbudget web --selector=app=web --min-available=3");
    await living.output("kubectl wait --for=jsonpath='{.status.observedGeneration}'=1 pdb/web --timeout=60s");
    const refused = await living.run(`kubectl drain ${node} --ignore-daemonsets --timeout=8s`);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    await living.output("kubectl delete poddisruptionbudget web");
    await living.output(`kubectl drain ${node} --ignore-daemonsets --timeout=60s`);
    expect(await living.output(`kubectl get pods --field-selector=spec.nodeName=${node} -o name`)).toBe("");
    await living.output(`kubectl uncordon ${node}`);
    await living.output("kubectl rollout status deployment/web --timeout=60s");
  });

  it("runs commands in pods, with their exit codes", async () => {
    expect(await living.output("kubectl exec deployment/web -- echo hello")).toBe("hello");
    expect(await living.output("kubectl exec deployment/web -- hostname")).toMatch(/^web-/);
    const failed = await living.run("kubectl exec deployment/web -- sh -c 'echo out; ls /none; exit 3'");
    expect(failed).toEqual({
      code: 3,
      stdout: "out\n",
      stderr: "ls: /none: No such file or directory\ncommand terminated with exit code 3\n",
    });
    expect(await living.output("echo 'echo piped' | kubectl exec -i deployment/web -- sh")).toBe("piped");
    const overSpdy = "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false kubectl exec -i deployment/web -- sh";
    expect(await living.run(`echo 'echo old; exit 4' | ${overSpdy}`)).toEqual({
      code: 4,
      stdout: "old\n",
      stderr: "command terminated with exit code 4\n",
    });
    expect((await living.run("kubectl exec deployment/web -- psql")).stderr).toContain(
      'exec: "psql": executable file not found in $PATH',
    );
    expect((await living.run("kubectl exec deployment/web -c none -- true")).stderr).toMatch(
      /container none is not valid for pod web-\S+ out of: web/,
    );
    expect((await living.run("kubectl exec deployment/web --as=nobody -- true")).stderr).toContain("is forbidden");
    const stuck = "kubectl run stuck --image=none --annotations=simulation.setpoint.dev/failure=image-pull";
    await living.output(stuck);
    await living.output(
      "kubectl wait --for=jsonpath='{.status.containerStatuses[0].state.waiting.reason}'=ErrImagePull pod/stuck --timeout=60s",
    );
    expect((await living.run("kubectl exec stuck -- true")).stderr).toContain('container not found ("stuck")');
  });

  it("copies a file out of a pod that has no tar: says so", async () => {
    const { code, stderr } = await living.run(
      'pod=$(kubectl get pods -l app=web -o jsonpath={.items[0].metadata.name}); kubectl cp "$pod:/etc/hostname" "$HOME/copied"',
    );
    expect(code).toBe(1);
    expect(stderr).toContain('exec: "tar": executable file not found in $PATH');
  });

  it("shows logs, attaches, and says what is not simulated", async () => {
    expect(await living.output("kubectl logs deployment/web --tail=1")).toContain("web: ");
    await living.output(
      "kubectl run brief --image=brief:1 --restart=Never --annotations=simulation.setpoint.dev/run-for=20s",
    );
    await living.output("kubectl wait --for=condition=Ready pod/brief --timeout=60s");
    expect(await living.output("kubectl attach brief")).toContain("ended with exit code 0");
    expect((await living.run("kubectl top pods")).stderr).toBe("error: Metrics API not available\n");
    expect((await living.run("kubectl port-forward deployment/web 8080:80")).stderr).toContain(
      "nothing listens in a simulated pod",
    );
  });
});
