import { readFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { controlPlane } from "@setpoint/control-plane";
import { interrupted } from "../interrupted.js";
import { DATA_DIR_PATH } from "./etcd.js";
import type { Flags } from "./flags.js";

/** The embedded control plane under kube-apiserver's flags, as far as envtest passes them. */
export async function runApiServer(flags: Flags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const hasControllers = env.SETPOINT_ENVTEST_CONTROLLERS === "1";
  const issuer = flags.get("service-account-issuer");
  const signingKey = textOf(flags.get("service-account-signing-key-file"));
  const tokens = tokensOf(textOf(flags.get("token-auth-file")));
  const dataDir = await dataDirOf(flags.get("etcd-servers"));
  const plane = await controlPlane({
    ...(dataDir !== undefined && { dataDir }),
    listen: listenOptions(flags),
    controllers: hasControllers,
    workloads: hasControllers,
    disabledAdmission: flags.get("disable-admission-plugins")?.split(",") ?? [],
    serviceAccounts: { ...(issuer !== undefined && { issuer }), ...(signingKey !== undefined && { signingKey }) },
    ...(tokens && { tokens }),
    log: (message, error) =>
      process.stderr.write(`${message}: ${error instanceof Error ? error.stack : String(error)}\n`),
  });
  await using _ = plane;
  await interrupted(signal);
}

function listenOptions(flags: Flags) {
  const host = flags.get("bind-address") ?? "127.0.0.1";
  const certDir = flags.get("cert-dir") ?? "/var/run/kubernetes";
  const certificate = textOf(flags.get("tls-cert-file") ?? join(certDir, "apiserver.crt"));
  const privateKey = textOf(flags.get("tls-private-key-file") ?? join(certDir, "apiserver.key"));
  const clientCa = textOf(flags.get("client-ca-file"));
  return {
    host: host === "0.0.0.0" ? "127.0.0.1" : host,
    port: Number(flags.get("secure-port") ?? 6443),
    ...(certificate && privateKey && { certificate: { certificate, privateKey } }),
    ...(clientCa !== undefined && { clientCa }),
  };
}

function textOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Lines of `token,user,uid,"group1,group2"`. */
function tokensOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return new Map(
    lines.map((line) => {
      const [, token = "", name = "", uid = "", groups = ""] =
        /^([^,]*),([^,]*),([^,]*),?"?([^"]*)"?$/.exec(line.trim()) ?? [];
      return [token, { name, uid, groups: groups.split(",").filter(Boolean) }] as const;
    }),
  );
}

/** The data folder of our etcd: a second API server on it finds the objects of the first. */
async function dataDirOf(servers: string | undefined): Promise<string | undefined> {
  const [server] = servers?.split(",") ?? [];
  if (server === undefined) return undefined;
  const answer = await new Promise<string | undefined>((resolve) => {
    const call = get(new URL(DATA_DIR_PATH, server), (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString("utf8") : undefined),
      );
    });
    call.on("error", () => resolve(undefined));
  });
  return answer === undefined ? undefined : join(answer, "setpoint");
}
