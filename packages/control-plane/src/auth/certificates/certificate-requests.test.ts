import { describe, expect, it } from "vitest";
import type { StatusError } from "../../api/status-error.js";
import type { AccessAttributes } from "../../api/user.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { certificateRequestChecks } from "./certificate-requests.js";

const SIGNER = "kubernetes.io/kube-apiserver-client";

/** Runs a request through the plugins; its user has `grants` (`verb signer`). */
async function admitted(attributes: object, grants: readonly string[] = []) {
  const authorize = (asked: AccessAttributes) => ({
    allowed: asked.type === "resource" && grants.includes(`${asked.verb} ${asked.name}`),
    reason: "",
  });
  const definition = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
  const user = { name: "ann", groups: ["g"] };
  const whole = { definition, subresource: "", name: "a", user, ...attributes } as unknown as AdmissionAttributes;
  try {
    let object = whole.object;
    for (const plugin of certificateRequestChecks({ authorize })) {
      object = (await plugin.mutate?.({ ...whole, object }, () => {})) ?? object;
      await plugin.validate?.({ ...whole, object }, () => {});
    }
    return object;
  } catch (error) {
    return (error as StatusError).status.message;
  }
}

const csr = (spec: object, status: object = {}) => ({
  metadata: { name: "a" },
  spec: { signerName: SIGNER, ...spec },
  status,
});

describe("certificateRequestChecks", () => {
  it("sets the requesting user, whatever the request says", async () => {
    const object = csr({ signerName: "example.com/s", username: "admin", groups: ["system:masters"], uid: "1" });
    expect(await admitted({ operation: "CREATE", object })).toMatchObject({
      spec: { signerName: "example.com/s", username: "ann", groups: ["g"] },
    });
  });

  it("requires permission for the signer or its domain to approve and sign", async () => {
    const approve = { operation: "UPDATE", subresource: "approval", oldObject: csr({}), object: csr({}) };
    expect(await admitted(approve)).toBe(
      `certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to approve requests with signerName "${SIGNER}"`,
    );
    expect(await admitted(approve, [`approve ${SIGNER}`])).toBe(approve.object);
    expect(await admitted(approve, ["approve kubernetes.io/*"])).toBe(approve.object);
    const sign = {
      operation: "UPDATE",
      subresource: "status",
      oldObject: csr({}),
      object: csr({}, { certificate: "x" }),
    };
    expect(await admitted(sign)).toContain(`user not permitted to sign requests with signerName "${SIGNER}"`);
    const unsigned = csr({}, { other: 1 });
    expect(await admitted({ ...sign, object: unsigned })).toBe(unsigned);
    expect(await admitted(sign, [`sign ${SIGNER}`])).toBe(sign.object);
  });

  it("refuses a malformed request", async () => {
    const object = csr({ request: Buffer.from("x").toString("base64") });
    expect(await admitted({ operation: "CREATE", object })).toContain("failed to parse CSR: PEM block type must be");
  });
});
