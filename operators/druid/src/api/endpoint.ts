import { type ReconcileContext, SetpointError } from "setpoint";
import { Secret } from "setpoint/kinds/v1";
import { SETTING_PREFIX } from "../cluster/settings.js";
import type { Druid, DruidNode } from "../druid.js";
import { groupName, serviceName } from "../rendering/naming.js";
import { parseProperties } from "../rendering/properties.js";
import type { DruidAccess } from "./druid-api.js";

/** Names the Secret that holds the CA of Druid's certificate in the key `ca.crt`. */
export const CA_ANNOTATION = `${SETTING_PREFIX}ca-secret`;

/** The URL of the cluster's router, derived from the spec; undefined if no router has a Service. */
export function routerUrl({ metadata, spec }: Druid): string | undefined {
  const key = Object.keys(spec.nodes)
    .sort()
    .find((each) => spec.nodes[each]!.nodeType === "router");
  const node: DruidNode | undefined = key === undefined ? undefined : spec.nodes[key];
  const service = (node?.services ?? spec.services ?? [])[0];
  if (key === undefined || !node || !service) return undefined;
  const properties = parseProperties(`${spec["common.runtime.properties"]}\n${node["runtime.properties"]}`);
  const isTls = properties.get("druid.enableTlsPort") === "true";
  const target = isTls ? Number(properties.get("druid.tlsPort") ?? 9088) : node["druid.port"];
  const name = serviceName(service.metadata?.name, groupName(metadata.name, key));
  return `${isTls ? "https" : "http"}://${name}.${metadata.namespace}:${servicePort(service.spec, target)}`;
}

/** The Service port that forwards to the target port. A headless Service does not map ports. */
function servicePort(spec: NonNullable<DruidNode["services"]>[number]["spec"], target: number): number {
  if (spec?.clusterIP === "None") return target;
  const ports = spec?.ports ?? [];
  return (
    ports.find(({ targetPort, port }) => (targetPort ?? port) === target)?.port ??
    (ports.length === 1 ? ports[0]!.port : target)
  );
}

type SecretReader = Pick<ReconcileContext, "find">;

/** How to reach a cluster's Druid: URL, user and CA. Reads of Secrets are tracked. */
export async function accessOf(
  druid: Druid,
  auth: Druid["spec"]["auth"],
  url: string,
  ctx: SecretReader,
): Promise<DruidAccess> {
  const { namespace = "", annotations } = druid.metadata;
  const user = auth && (await userOf(auth, namespace, ctx));
  const authority = annotations?.[CA_ANNOTATION];
  return { url, user, ca: authority ? await secretValue(ctx, namespace, authority, "ca.crt", "ca.crt") : undefined };
}

async function userOf(
  auth: NonNullable<Druid["spec"]["auth"]>,
  home: string,
  ctx: SecretReader,
): Promise<DruidAccess["user"]> {
  const { name = "", namespace = home } = auth.secretRef;
  return {
    name: await secretValue(ctx, namespace, name, auth.usernameKey || "OperatorUserName", "username"),
    password: await secretValue(ctx, namespace, name, auth.passwordKey || "OperatorPassword", "password"),
  };
}

async function secretValue(
  ctx: SecretReader,
  namespace: string,
  name: string,
  key: string,
  what: string,
): Promise<string> {
  const secret = await ctx.find(Secret, name, { namespace });
  const value = secret?.data?.[key];
  if (value !== undefined) return Buffer.from(value, "base64").toString();
  const missing = secret
    ? `${what} key "${key}" not found in secret ${namespace}/${name}`
    : `secret ${namespace}/${name} not found`;
  throw new SetpointError("DRUID_CREDENTIALS_MISSING", missing);
}
