import { basename } from "node:path";
import { type JsonObject, type Part, rbacManifests, rbacRules } from "setpoint";
import { type CommandContext, type OptionValues, UsageError } from "../command.js";
import { type ReadyMadeOperator, readyMadeOperators } from "../operators/ready-made.js";
import { printDocuments } from "./documents.js";
import { type InstallOptions, installManifests } from "./install.js";
import { loadDeclarations } from "./module-file.js";

const DEFAULT_NAMESPACE = "setpoint-system";

/** `setpoint rbac`: resolves to the exit code. */
export async function runRbac(context: CommandContext): Promise<number> {
  const { positionals, values } = context;
  const [first] = positionals;
  if (first === undefined) throw new UsageError("which module or operator? Say: setpoint rbac FILE.ts");
  const operator = readyMadeOperators.find((each) => each.name === first);
  const namespace = (values.namespace as string | undefined) ?? DEFAULT_NAMESPACE;
  const name = (values.name as string | undefined) ?? operator?.name ?? basename(first).replace(/\.[^.]+$/, "");
  if (values.install && !operator)
    throw new UsageError(`--install: there are ${readyMadeOperators.map((each) => each.name).join(", ")}`);
  const isInstall = values.install === true;
  const isManagement = values["management-cluster"] === true;
  const parts = await (operator ? operator.workloads(isManagement) : partsOf(positionals));
  const rules = rbacRules(parts, {
    ...(values["leader-elect"] || isInstall ? { leaderElection: { name: operator?.name ?? name, namespace } } : {}),
    reviewsAccess: values["metrics-rbac"] === true || isInstall,
  });
  const cluster = isManagement ? managementOf(operator) : {};
  const manifests = rbacManifests(rules, { name, namespace, ...cluster });
  printDocuments(
    context,
    isInstall ? withInstall(manifests, installOptions(name, namespace, values, first)) : manifests,
  );
  return 0;
}

function installOptions(name: string, namespace: string, values: OptionValues, operator: string): InstallOptions {
  if (typeof values.image !== "string") throw new UsageError("--install: say which image with --image IMAGE");
  return { name, namespace, image: values.image, operator };
}

function withInstall(manifests: readonly JsonObject[], options: InstallOptions): readonly JsonObject[] {
  const { before, after } = installManifests(options);
  return [...before, ...manifests, ...after];
}

function managementOf(operator: ReadyMadeOperator | undefined): { readonly cluster: string } {
  if (operator?.managementCluster === undefined) throw new UsageError("--management-cluster is for rancher-projects");
  return { cluster: operator.managementCluster };
}

async function partsOf(paths: readonly string[]): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const path of paths) {
    const found = (await loadDeclarations(path)).parts;
    if (found.length === 0) throw new UsageError(`${path} exports no controller(…), watcher(…) or app(…)`);
    parts.push(...found);
  }
  return parts;
}
