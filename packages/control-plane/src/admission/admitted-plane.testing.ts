import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { onTestFinished } from "vitest";
import { parseTarget } from "../api/request-target.js";
import { RbacAuthorizer } from "../auth/rbac/rbac-authorizer.js";
import { RoleIndex } from "../auth/rbac/role-index.js";
import { loadFacts } from "../facts/facts.js";
import type { TestAnswer } from "../registry/plane.testing.js";
import { Registry } from "../registry/registry.js";
import { upperLayers } from "../write-parts.js";
// Loaded with the file, so that its first test does not pay for it.
import "../registry/write-side.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { DefaultAdmission } from "./default-admission.js";
import type { ServiceResolver } from "./webhooks/webhook-caller.js";

export interface AdmittedPlane {
  readonly clock: VirtualClock;
  readonly request: (method: string, target: string, body?: object, contentType?: string) => Promise<TestAnswer>;
}

/**
 * A registry behind the admission of every control plane, on a virtual clock, called without a socket by a user with
 * all permissions. It ends with the test.
 */
export async function admittedPlane(services?: ServiceResolver): Promise<AdmittedPlane> {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  const random = seededRandom(1);
  const roles = new RoleIndex(storage);
  const rbac = new RbacAuthorizer(roles);
  const catalog = () => registry.environment.catalog;
  const admission = new DefaultAdmission({
    storage,
    clock,
    random,
    roles,
    rbac,
    catalog,
    ...(services && { services }),
  });
  const registry: Registry = new Registry({
    storage,
    clock,
    random,
    facts: await loadFacts(),
    writeParts: () => ({ ...upperLayers, admission: admission.plugins }),
    authenticate: async () => ({ name: "admin", groups: ["system:masters", "system:authenticated"] }),
    authorizer: rbac,
  });
  onTestFinished(() => admission[Symbol.dispose]());
  const request: AdmittedPlane["request"] = async (method, target, body, contentType = "application/json") => {
    const { pathname, search } = new URL(target, "http://plane");
    const response = await registry.handler({
      ...parseTarget(method, `${pathname}${search}`),
      headers: { "user-agent": "test/1", ...(body && { "content-type": contentType }) },
      body: Buffer.from(body ? JSON.stringify(body) : ""),
      isInProcess: true,
      signal: new AbortController().signal,
    });
    const text = Buffer.from(response.body as Uint8Array).toString();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  };
  return { clock, request };
}
