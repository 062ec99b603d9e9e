import { describe, expect, it } from "vitest";
import { labelValue, mirroredKind, objectName } from "./mirrored-kind.js";

describe("a resource as a Kubernetes object", () => {
  it("has a valid and unique object name", () => {
    expect(objectName("daily_sales")).toBe("daily-sales");
    expect(objectName("Daily_Sales")).toBe("daily-sales");
    const names = ["daily-sales", "daily sales", "daily.sales", "ns:daily", "_x", "x", "é", "日本", "a".repeat(300)];
    const made = [...names, "daily_sales"].map(objectName);
    expect(new Set(made).size).toBe(made.length);
    for (const name of made) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    for (const name of made) expect(name.length).toBeLessThanOrEqual(253);
  });

  it("has a label for any folder", () => {
    expect(labelValue("my shop!")).toBe("my-shop");
    expect(labelValue("日本")).toBe("project");
    expect(labelValue("x".repeat(100))).toHaveLength(63);
  });

  it("is served as models", () => {
    expect(mirroredKind("Model").crd().metadata.name).toBe("models.pipelines.setpoint.dev");
    expect(mirroredKind("Connector").crd().metadata.name).toBe("connectors.pipelines.setpoint.dev");
  });
});
