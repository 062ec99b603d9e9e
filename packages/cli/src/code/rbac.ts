import { basename } from "node:path";
import type { App, Loop } from "setpoint";
import { type CommandContext, type ReadyMadeOperator, UsageError } from "setpoint/command";
import { rbacManifests, rbacRules } from "setpoint/manager";
import { readyMadeOperators } from "../operators.js";
import { printDocuments } from "./documents.js";
import { installManifests } from "./install.js";
import { EXPORT_WHAT_IS_MADE, loadDeclarations } from "./module-file.js";
import { webhookServiceOf } from "./webhook-service.js";

const DEFAULT_NAMESPACE = "setpoint-system";

/** `setpoint rbac`: resolves to the exit code. */
export async function runRbac(context: CommandContext): Promise<number> {
  const { positionals, values } = context;
  const [first] = positionals;
  if (first === undefined) throw new UsageError("name a module or an operator: setpoint rbac FILE.ts");
  const operator = readyMadeOperators.find((each) => each.name === first);
  const namespace = (values.namespace as string | undefined) ?? DEFAULT_NAMESPACE;
  const name = (values.name as string | undefined) ?? operator?.name ?? basename(first).replace(/\.[^.]+$/, "");
  const service = webhookServiceOf(values);
  const isInstall = values.install === true;
  const isManagement = values["management-cluster"] === true;
  const loops = await (operator ? operator.loops(isManagement) : loopsOf(positionals));
  const rules = rbacRules(loops, {
    ...(values["leader-elect"] || isInstall ? { leaderElection: leaseOf(context, operator, namespace) } : {}),
    reviewsAccess: values["metrics-rbac"] === true || isInstall,
    ...(service ? { service } : {}),
  });
  const cluster = isManagement ? managementOf(operator) : {};
  const manifests = rbacManifests(rules, { name, namespace, ...cluster });
  if (!isInstall) {
    printDocuments(context, manifests);
    return 0;
  }
  if (typeof values.image !== "string") throw new UsageError("--install needs --image IMAGE");
  if (!operator && !service && appsOf(loops).some(hasWebhooks))
    throw new UsageError(
      "--install: the module has webhooks; name their Service with --webhook-service NAMESPACE/NAME",
    );
  const { before, after } = installManifests({
    ...{ name, namespace, image: values.image },
    ...(operator ? { operator: operator.name } : {}),
    ...(operator?.installation ? { installation: operator.installation(service !== undefined) } : {}),
    ...(service ? { service } : {}),
  });
  printDocuments(context, [...before, ...manifests, ...after]);
  return 0;
}

/** The Lease has the name that the process is run by: `run(…, { name })`. For a module it is unknown unless given. */
function leaseOf(
  { values }: CommandContext,
  operator: ReadyMadeOperator | undefined,
  namespace: string,
): { readonly name?: string; readonly namespace: string } {
  const name = operator?.name ?? (values.name as string | undefined);
  return { namespace, ...(name === undefined ? {} : { name }) };
}

const appsOf = (loops: readonly (Loop | App)[]): readonly App[] => loops.filter((loop) => loop.type === "app");

const hasWebhooks = ({ validators, mutators, converters }: App): boolean =>
  validators.length + mutators.length + converters.length > 0;

function managementOf(operator: ReadyMadeOperator | undefined): { readonly cluster: string } {
  if (operator?.managementCluster === undefined) throw new UsageError("--management-cluster is for rancher-projects");
  return { cluster: operator.managementCluster };
}

async function loopsOf(paths: readonly string[]): Promise<readonly (Loop | App)[]> {
  const loops: (Loop | App)[] = [];
  for (const path of paths) {
    const found = (await loadDeclarations(path)).loops;
    if (found.length === 0)
      throw new UsageError(`${path} exports no controller(…), watcher(…) or app(…): ${EXPORT_WHAT_IS_MADE}`);
    loops.push(...found);
  }
  return loops;
}
