import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LivingPlane } from "./living-plane.js";

/** Each step continues from the previous one, like an administrator's day. */
describe("helm on the embedded control plane", () => {
  let living: LivingPlane;
  beforeAll(async () => {
    living = await LivingPlane.start();
  });
  afterAll(() => living?.[Symbol.asyncDispose]());

  const shop = "shop helm/shop --namespace shop --wait --timeout 90s";
  const inShop = (line: string): Promise<string> => living.output(`kubectl --namespace shop ${line}`);
  const image = (): Promise<string> =>
    inShop("get deployment shop-web -o jsonpath='{.spec.template.spec.containers[0].image} {.status.readyReplicas}'");

  it("installs a chart and waits until all of it is ready", async () => {
    const output = await living.output(`helm install ${shop} --create-namespace --wait-for-jobs`);
    expect(output).toContain("STATUS: deployed");
    expect(await image()).toBe("web:1 2");
    expect(await inShop("get statefulset shop-database -o jsonpath='{.status.readyReplicas}'")).toBe("2");
    expect(await inShop("get pvc -o jsonpath='{.items[*].status.phase}'")).toBe("Bound Bound");
    expect(await inShop("get job shop-migration -o jsonpath='{.status.succeeded}'")).toBe("1");
    expect(await inShop("get visit shop -o jsonpath='{.spec.limit}'")).toBe("2");
    const addresses = "jsonpath='{.items[*].endpoints[*].conditions.ready}'";
    expect(await inShop(`get endpointslices -l kubernetes.io/service-name=shop-web -o ${addresses}`)).toBe("true true");
  });

  it("runs the chart's tests", async () => {
    expect(await living.output("helm test shop --namespace shop")).toMatch(/Phase:\s+Succeeded/);
  });

  it("upgrades it, the hook first", async () => {
    const before = await inShop("get job shop-migration -o jsonpath='{.metadata.uid}'");
    await living.output(`helm upgrade ${shop} --set image=web:2,greeting=welcome,replicas=3`);
    expect(await image()).toBe("web:2 3");
    expect(await inShop("get configmap shop-settings -o jsonpath='{.data.greeting}'")).toBe("welcome");
    expect(await inShop("get job shop-migration -o jsonpath='{.metadata.uid}'")).not.toBe(before);
    expect(await inShop("get pods -l app=shop-database -o jsonpath='{.items[*].spec.containers[0].image}'")).toBe(
      "web:2 web:2",
    );
  });

  it("tells of an upgrade that does not become ready", async () => {
    const brief = shop.replace("90s", "20s");
    const outcome = await living.run(`helm upgrade ${brief} --set image=web:3,script.failure=image-pull`);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("shop-web");
    expect(await living.output("helm status shop --namespace shop")).toContain("STATUS: failed");
  });

  it("rolls back to the revision that was well", async () => {
    await living.output("helm rollback shop 2 --namespace shop --wait --timeout 90s");
    expect(await image()).toBe("web:2 3");
    const history = JSON.parse(await living.output("helm history shop --namespace shop -o json")) as {
      readonly revision: number;
      readonly status: string;
    }[];
    expect(history.map(({ revision, status }) => `${revision} ${status}`)).toEqual([
      "1 superseded",
      "2 superseded",
      "3 failed",
      "4 deployed",
    ]);
  });

  it("refuses a chart that the server refuses", async () => {
    const outcome = await living.run(`helm upgrade ${shop} --set replicas=0`);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("spec.limit in body should be greater than or equal to 1");
  });

  it("uninstalls it, and waits until it is gone", async () => {
    await living.output("helm uninstall shop --namespace shop --cascade foreground --wait --timeout 90s");
    expect(await inShop("get deployments,statefulsets,services,pods -l app -o name")).toBe("");
    // Claims of a StatefulSet stay by its policy, and so does the CRD.
    expect(await inShop("get pvc -o name")).toContain("data-shop-database-0");
    expect(await living.output("kubectl get crd visits.shop.example.com -o name")).toContain("visits");
    expect(await living.output("helm list --all-namespaces --short")).toBe("");
  });
});
