import { posix } from "node:path";
import type { Container, Pod } from "setpoint/kinds/v1";
import type { ContainerValues } from "./container-values.js";

type Volume = NonNullable<Pod["spec"]["volumes"]>[number];
type Files = ReadonlyMap<string, Buffer>;

/** The files of a container: ConfigMap, Secret and downwardAPI volumes. Everything else is empty. */
export class ContainerFiles {
  readonly #files = new Map<string, Buffer>();
  readonly #folders = new Set<string>(["/"]);

  constructor(pod: Pod, container: Container, values: ContainerValues) {
    this.#add("/etc/hostname", Buffer.from(`${pod.spec.hostname ?? pod.metadata.name}\n`));
    this.#add(
      "/etc/hosts",
      Buffer.from(`127.0.0.1\tlocalhost\n${pod.status?.podIP ?? "127.0.0.1"}\t${pod.metadata.name}\n`),
    );
    for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
      const volume = pod.spec.volumes?.find((each) => each.name === name);
      const files = volume ? filesOf(volume, values) : new Map<string, Buffer>();
      const one = subPath === undefined ? undefined : files.get(subPath);
      if (one) this.#add(normalized(mountPath), one);
      else {
        this.#addFolder(normalized(mountPath));
        for (const [path, bytes] of files) this.#add(normalized(`${mountPath}/${path}`), bytes);
      }
    }
  }

  read(path: string): Buffer | undefined {
    return this.#files.get(normalized(path));
  }

  isFolder(path: string): boolean {
    return this.#folders.has(normalized(path));
  }

  /** The sorted names in a folder. */
  list(path: string): readonly string[] {
    const within = normalized(path) === "/" ? "/" : `${normalized(path)}/`;
    const names = [...this.#files.keys(), ...this.#folders]
      .filter((each) => each.startsWith(within) && each !== within)
      .map((each) => each.slice(within.length).split("/")[0]!);
    return [...new Set(names)].sort();
  }

  #add(path: string, bytes: Buffer): void {
    this.#files.set(path, bytes);
    this.#addFolder(path.slice(0, path.lastIndexOf("/")) || "/");
  }

  #addFolder(path: string): void {
    for (let folder = path; folder !== ""; folder = folder.slice(0, folder.lastIndexOf("/"))) this.#folders.add(folder);
  }
}

function filesOf({ configMap, secret, downwardAPI, projected }: Volume, values: ContainerValues): Files {
  if (configMap) return chosen(values.configMap(configMap.name ?? ""), configMap.items);
  if (secret) return chosen(values.secret(secret.secretName ?? ""), secret.items);
  if (downwardAPI) return fields(downwardAPI.items, values);
  const sources = projected?.sources ?? [];
  return new Map(
    sources.flatMap((source) => [
      ...(source.configMap ? chosen(values.configMap(source.configMap.name ?? ""), source.configMap.items) : []),
      ...(source.secret ? chosen(values.secret(source.secret.name ?? ""), source.secret.items) : []),
      ...(source.downwardAPI ? fields(source.downwardAPI.items, values) : []),
    ]),
  );
}

function chosen(files: Files, items: readonly { readonly key: string; readonly path: string }[] | undefined): Files {
  if (!items) return files;
  return new Map(
    items.flatMap(({ key, path }) => {
      const bytes = files.get(key);
      return bytes ? [[path, bytes] as const] : [];
    }),
  );
}

function fields(items: NonNullable<Volume["downwardAPI"]>["items"], values: ContainerValues): Files {
  return new Map(
    (items ?? []).flatMap(({ path, fieldRef }) => {
      const value = fieldRef && values.field(fieldRef.fieldPath);
      return value === undefined ? [] : [[path, Buffer.from(value)] as const];
    }),
  );
}

/** Absolute, without `.`, `..` and doubled slashes. */
function normalized(path: string): string {
  return posix.resolve("/", path);
}
