import { goQuote } from "../../api/go-format.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { list, object } from "../validation/rule.js";

interface File {
  readonly path: string;
  /** The source of the file; empty if the whole volume has one source. */
  readonly source: string;
}

/** Warns about conflicting files in a volume: one hides another, or a path is both file and folder. */
export function fileWarnings(volume: JsonObject): readonly string[] {
  const { configMap, secret, downwardAPI, projected } = volume;
  const [named, secretName] = [quoted(object(configMap).name), quoted(object(secret).secretName)];
  return [
    ...overlaps(volume, `ConfigMap ${named}`, itemsOf(configMap, "")),
    ...overlaps(volume, `Secret ${secretName}`, itemsOf(secret, "")),
    ...overlaps(volume, "DownwardAPI", itemsOf(downwardAPI, "")),
    ...(isObject(projected) ? projectedWarnings(volume, projected) : []),
  ];
}

function projectedWarnings(volume: JsonObject, projected: JsonObject): readonly string[] {
  const sources = list(projected.sources);
  const empty = `volume ${quoted(volume.name)} (Projected) has no sources provided`;
  return [
    ...sources.filter((source) => Object.keys(source).length === 0).map(() => empty),
    ...overlaps(volume, "Projected", sources.flatMap(projectedFiles)),
  ];
}

function projectedFiles(source: JsonObject): readonly File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (isObject(configMap)) return itemsOf(configMap, `ConfigMap ${quoted(configMap.name)}`);
  if (isObject(secret)) return itemsOf(secret, `Secret ${quoted(secret.name)}`);
  if (isObject(downwardAPI)) return itemsOf(downwardAPI, "DownwardAPI");
  if (isObject(serviceAccountToken)) return [fileAt(serviceAccountToken.path, "ServiceAccountToken")];
  if (isObject(clusterTrustBundle)) {
    const { name, signerName, path } = clusterTrustBundle;
    return [fileAt(path, `ClusterTrustBundle ${quoted(name ?? signerName)}`)];
  }
  const { certificateChainPath, keyPath, credentialBundlePath } = object(podCertificate);
  return [
    fileAt(certificateChainPath, "PodCertificate chain"),
    fileAt(keyPath, "PodCertificate key"),
    fileAt(credentialBundlePath, "PodCertificate credential bundle"),
  ];
}

const itemsOf = (source: Json | undefined, shown: string): readonly File[] =>
  list(object(source).items).map(({ path }) => fileAt(path, shown));

const fileAt = (path: Json | undefined, source: string): File => ({
  path: String(path ?? "").replace(/\/+$/, ""),
  source,
});

/** Beyond this number, files are not compared with each other, because it would take too long. */
const MOST_FILES = 1_000;

function overlaps({ name }: JsonObject, what: string, files: readonly File[]): readonly string[] {
  if (files.length > MOST_FILES) return [];
  const seen: File[] = [];
  return files.flatMap((file) => {
    if (file.path === "") return [];
    const clashes = seen.filter(({ path }) => isWithin(path, file.path) || isWithin(file.path, path));
    seen.push(file);
    return clashes.map(
      (other) => `volume ${quoted(name)} (${what}): overlapping paths: ${shown(file)} with ${shown(other)}`,
    );
  });
}

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`);
const shown = ({ path, source }: File): string => (source === "" ? goQuote(path) : `${goQuote(path)} (${source})`);
const quoted = (value: Json | undefined): string => goQuote(String(value ?? ""));
