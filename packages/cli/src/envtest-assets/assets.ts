import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { API_SERVER_FLAGS, ETCD_FLAGS } from "./flags.js";

/** The scripts by name. They run with this very Node and this installation, wherever the folder goes. */
export function assets(node: string): Readonly<Record<string, string>> {
  return {
    etcd: server(node, "etcd", ETCD_FLAGS),
    "kube-apiserver": server(node, "kube-apiserver", API_SERVER_FLAGS),
    kubectl: KUBECTL,
  };
}

/** envtest asks for the flags with --help before each start: that needs no Node. */
function server(node: string, name: string, flags: readonly string[]): string {
  const entry = pathToFileURL(createRequire(import.meta.url).resolve("@setpoint/cli")).href;
  const program = `const { runEnvtestServer } = await import(${JSON.stringify(entry)}); await runEnvtestServer("${name}");`;
  return [
    "#!/bin/sh",
    "# Written by setpoint envtest-assets.",
    'for argument in "$@"; do',
    '  if [ "$argument" = --help ]; then',
    `    printf '%s\\n' 'Usage: ${name} [flags]' ${flags.map((flag) => `'  --${flag}'`).join(" ")}`,
    "    exit 0",
    "  fi",
    "done",
    `exec ${quoted(node)} --input-type=module --eval ${quoted(program)} -- "$@"`,
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const KUBECTL = `#!/bin/sh
# Written by setpoint envtest-assets: the next kubectl on the PATH.
here=$(cd "$(dirname "$0")" && pwd)
IFS=:
for folder in $PATH; do
  [ "$folder" = "$here" ] && continue
  [ -x "$folder/kubectl" ] && exec "$folder/kubectl" "$@"
done
echo "kubectl: none on the PATH besides $0" >&2
exit 127
`;
