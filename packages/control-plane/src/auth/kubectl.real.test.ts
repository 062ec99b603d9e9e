import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubernetesBinaries } from "../../../../tools/kubernetes/start.mjs";
import { type ControlPlane, controlPlane } from "../control-plane.js";

const run = promisify(execFile);
let folder: string;
let plane: ControlPlane;
let kubectlPath: string;

beforeAll(async () => {
  kubectlPath = join(kubernetesBinaries(), "kubectl");
  folder = mkdtempSync(join(tmpdir(), "setpoint-kubectl-"));
  plane = await controlPlane({ listen: {} });
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
  await kubectl("create", "namespace", "team");
  await kubectl("create", "serviceaccount", "bob", "--namespace=team");
}, 900_000);

afterAll(async () => {
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The output of kubectl, or its error. */
async function kubectl(...args: string[]): Promise<string> {
  const environment = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder };
  try {
    const { stdout } = await run(kubectlPath, args, { env: environment, cwd: folder });
    return stdout.trim();
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return (stdout + stderr).trim();
  }
}

const BOB = "--as=system:serviceaccount:team:bob";

describe("kubectl on access", () => {
  it("auth whoami", async () => {
    expect(JSON.parse(await kubectl("auth", "whoami", "-o", "json")).status.userInfo).toMatchObject({
      username: "admin",
      groups: ["system:masters", "system:authenticated"],
    });
    const output = await kubectl(
      "auth",
      "whoami",
      "-o",
      "json",
      "--as=ann",
      "--as-group=g",
      "--as-uid=7",
      "--as-user-extra=a=b",
    );
    expect(JSON.parse(output).status.userInfo).toEqual({
      username: "ann",
      uid: "7",
      groups: ["g", "system:authenticated"],
      extra: { a: ["b"] },
    });
  });

  it("auth can-i, before and after a binding", async () => {
    expect(await kubectl("auth", "can-i", "delete", "nodes")).toBe("yes");
    expect(await kubectl("auth", "can-i", "list", "pods", "-n", "team", BOB)).toBe("no");
    await kubectl("create", "rolebinding", "viewer", "-n", "team", "--clusterrole=view", "--serviceaccount=team:bob");
    expect(await kubectl("auth", "can-i", "list", "pods", "-n", "team", BOB)).toBe("yes");
    expect(await kubectl("auth", "can-i", "list", "pods", "-n", "default", BOB)).toBe("no");
    expect(await kubectl("auth", "can-i", "create", "deployments.apps/scale", "-n", "team", BOB)).toBe("no");
    expect(await kubectl("auth", "can-i", "get", "/healthz", BOB)).toBe("yes");
    const list = await kubectl("auth", "can-i", "--list", "-n", "team", BOB);
    expect(list).toContain("selfsubjectaccessreviews.authorization.k8s.io");
    expect(list).toMatch(/^configmaps +\[] +\[] +\[get list watch]$/m);
  });

  it("create token, and the access of its bearer", async () => {
    const good = await kubectl("create", "token", "bob", "-n", "team", "--duration=30m");
    expect(good.split(".")).toHaveLength(3);
    writeFileSync(
      join(folder, "token.yaml"),
      plane.kubeconfig!.replace(/ {6}client-certificate-data: .*\n {6}client-key-data: .*\n/, `      token: ${good}\n`),
    );
    const asBob = (...args: string[]) => kubectl("--kubeconfig", join(folder, "token.yaml"), ...args);
    expect(await asBob("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).toBe(
      "system:serviceaccount:team:bob",
    );
    expect(await asBob("get", "nodes")).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "system:serviceaccount:team:bob" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    expect(await asBob("get", "pods", "--as=ann")).toContain("cannot impersonate-on:user-info:list");
    await kubectl("delete", "serviceaccount", "bob", "-n", "team");
    expect(await asBob("get", "pods", "-n", "team")).toContain("Unauthorized");
    await kubectl("create", "serviceaccount", "bob", "-n", "team");
    expect(await kubectl("create", "token", "bob", "-n", "team", "--duration=1m")).toContain(
      "may not specify a duration less than 10 minutes",
    );
    expect(await kubectl("create", "token", "nobody", "-n", "team")).toBe(
      'error: failed to create token: serviceaccounts "nobody" not found',
    );
  });

  it("auth reconcile, roles and their limits", async () => {
    writeFileSync(
      join(folder, "role.yaml"),
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: team}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
    );
    expect(await kubectl("auth", "reconcile", "-f", "role.yaml")).toContain(
      "role.rbac.authorization.k8s.io/r reconciled",
    );
    await kubectl("create", "clusterrolebinding", "bob-admin", "--clusterrole=admin", "--serviceaccount=team:bob");
    expect(await kubectl("create", "role", "ok", "-n", "team", "--verb=get", "--resource=secrets", BOB)).toContain(
      "created",
    );
    expect(await kubectl("create", "role", "bad", "-n", "team", "--verb=delete", "--resource=nodes", BOB)).toBe(
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io "bad" is forbidden: user "system:serviceaccount:team:bob" (groups=["system:serviceaccounts" "system:serviceaccounts:team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["delete"]}',
    );
  });

  it("certificate approve, and a user with a certificate of its own", async () => {
    execFileSync("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "ann.key"], {
      cwd: folder,
    });
    const asked = execFileSync("openssl", ["req", "-new", "-key", "ann.key", "-subj", "/O=team/CN=ann"], {
      cwd: folder,
      stdio: "pipe",
    });
    const request = (name: string, pem: Buffer) => {
      writeFileSync(
        join(folder, `${name}.yaml`),
        `apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: ${name}}\nspec:\n  request: ${pem.toString("base64")}\n  signerName: kubernetes.io/kube-apiserver-client\n  usages: [client auth]\n`,
      );
      return kubectl("apply", "-f", `${name}.yaml`);
    };
    expect(await request("ann", asked)).toContain("created");
    expect(await kubectl("get", "csr", "ann", "-o", "jsonpath={.spec.username}")).toBe("admin");
    expect(await kubectl("certificate", "approve", "ann", BOB)).toContain("cannot");
    expect(await kubectl("certificate", "approve", "ann")).toContain("approved");
    await kubectl("wait", "--for=jsonpath={.status.certificate}", "csr/ann", "--timeout=20s");
    const certificate = await kubectl("get", "csr", "ann", "-o", "jsonpath={.status.certificate}");
    writeFileSync(join(folder, "ann.crt"), Buffer.from(certificate, "base64"));
    await kubectl("config", "set-credentials", "ann", "--client-certificate=ann.crt", "--client-key=ann.key");
    expect(await kubectl("--user=ann", "auth", "whoami", "-o", "jsonpath={.status.userInfo}")).toBe(
      '{"groups":["team","system:authenticated"],"username":"ann"}',
    );
    const masters = execFileSync("openssl", ["req", "-new", "-key", "ann.key", "-subj", "/O=system:masters/CN=eve"], {
      cwd: folder,
      stdio: "pipe",
    });
    expect(await request("eve", masters)).toContain(
      "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
    );
  });
});
