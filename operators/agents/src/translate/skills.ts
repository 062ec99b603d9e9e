import { invalidSpec } from "../errors.js";
import type { Agent } from "../kinds/agent.js";
import { type JsonFields, nonEmpty } from "./go-json.js";
import { baseName, parseGoUrl } from "./go-url.js";
import { secretVolume } from "./pod-additions.js";

type Skills = NonNullable<Agent["spec"]["skills"]>;
type GitReference = NonNullable<Skills["gitRefs"]>[number];
type S3Reference = NonNullable<Skills["s3Refs"]>[number];

/** Folder names that cannot escape /skills. */
const FOLDER = /^[A-Za-z0-9._-]+$/;

export function gitSkillName({ url, path = "", name = "" }: GitReference): string {
  if (name.trim() !== "") return name.trim();
  const inRepository = path.trim().replace(/^\/+|\/+$/g, "");
  if (inRepository !== "") return baseName(inRepository);
  const parsed = parseGoUrl(url)?.path || url;
  return baseName(parsed.replace(/\.git$/, ""));
}

export function ociSkillName(image: string): string {
  const withoutDigest = image.includes("@") ? image.slice(0, image.lastIndexOf("@")) : image;
  const colon = withoutDigest.lastIndexOf(":");
  return baseName(colon > withoutDigest.lastIndexOf("/") ? withoutDigest.slice(0, colon) : withoutDigest);
}

export function s3SkillName({ uri, name = "" }: S3Reference): string {
  if (name.trim() !== "") return name.trim();
  return baseName(uri.trim().replace(/\/$/, "")).replace(/\.(tar\.gz|tgz|zip)$/i, "");
}

export function skillNames({ refs = [], gitRefs = [], s3Refs = [] }: Skills): readonly string[] {
  return [...refs.map(ociSkillName), ...gitRefs.map(gitSkillName), ...s3Refs.map(s3SkillName)];
}

export const hasSkills = ({ refs, gitRefs, s3Refs }: Skills): boolean =>
  [refs, gitRefs, s3Refs].some((list) => (list?.length ?? 0) > 0);

/** The configuration of the container that fetches the skills. Throws `AGENTS_INVALID_SPEC` with the field's path. */
export function skillsConfig(skills: Skills): JsonFields {
  const { refs = [], gitRefs = [], s3Refs = [], gitAuthSecretRef, imagePullSecrets = [] } = skills;
  const taken = new Set<string>();
  const folder = (name: string, field: string): string => {
    if (name === "." || name === ".." || !FOLDER.test(name)) {
      throw invalidSpec(`${field}: skill name ${JSON.stringify(name)} must match ${FOLDER.source}`);
    }
    if (taken.has(name)) throw invalidSpec(`${field}: duplicate skill directory name ${JSON.stringify(name)}`);
    taken.add(name);
    return `/skills/${name}`;
  };
  const git = gitRefs.map((reference, at) => {
    const field = `spec.skills.gitRefs[${at}]`;
    const subPath = (reference.path ?? "").replace(/\/$/, "");
    if (!isLocal(subPath)) throw invalidSpec(`${field}.path: must be a relative path without '..' segments`);
    const ref = reference.ref || "main";
    const dest = folder(gitSkillName(reference), field);
    const full = /^[0-9a-fA-F]{40}$/.test(ref) || undefined;
    return { url: reference.url, ref, dest, full, subPath: nonEmpty(subPath) };
  });
  return {
    authMountPath: gitAuthSecretRef && "/git-auth",
    gitRefs: nonEmpty(git),
    ociRefs: nonEmpty(
      refs.map((image, at) => ({ image, dest: folder(ociSkillName(image), `spec.skills.refs[${at}]`) })),
    ),
    insecureOci: skills.insecureSkipVerify || undefined,
    sshHosts: gitAuthSecretRef && nonEmpty(sshHosts(gitRefs)),
    imagePullSecrets: nonEmpty(imagePullSecrets.map(({ name }) => name)),
    s3Refs: nonEmpty(
      s3Refs.map((reference, at) => ({
        uri: reference.uri,
        dest: folder(s3SkillName(reference), `spec.skills.s3Refs[${at}]`),
        region: nonEmpty(reference.region),
      })),
    ),
  };
}

/** Like Go's filepath.IsLocal. The empty path means the whole repository. */
function isLocal(path: string): boolean {
  if (path === "") return true;
  if (path.startsWith("/")) return false;
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    if (depth < 0) return false;
  }
  return true;
}

/** The unique hosts, sorted, whose keys the container looks up before it clones over SSH. */
function sshHosts(references: readonly GitReference[]): readonly JsonFields[] {
  const hosts = new Map<string, { readonly host: string; readonly port: string }>();
  for (const { url } of references) {
    const found = sshHost(url);
    if (found) hosts.set(`${found.host}:${found.port}`, found);
  }
  const sorted = [...hosts.values()].sort((a, b) => compare(a.host, b.host) || compare(a.port, b.port));
  return sorted.map(({ host, port }) => ({ host, port: nonEmpty(port) }));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function sshHost(url: string): { readonly host: string; readonly port: string } | undefined {
  const isHost = (host: string): boolean => /^[A-Za-z0-9.-]+$/.test(host);
  if (url.includes("://")) {
    const parsed = parseGoUrl(url);
    if (!parsed || !["ssh", "git+ssh"].includes(parsed.scheme) || !isHost(parsed.hostname)) return undefined;
    return { host: parsed.hostname, port: parsed.port === "22" ? "" : parsed.port };
  }
  const host = /^(?:[^@/]+@)?([^:/]+):.+$/.exec(url)?.[1];
  return host !== undefined && isHost(host) ? { host, port: "" } : undefined;
}

/** Volumes and mounts of the container that fetches the skills, except the skills folder itself. */
export function skillsVolumes(
  { gitAuthSecretRef, imagePullSecrets = [] }: Skills,
  configMap: string,
): { readonly volumes: readonly JsonFields[]; readonly mounts: readonly JsonFields[] } {
  const secrets = [
    ...(gitAuthSecretRef ? [{ volume: "git-auth", secret: gitAuthSecretRef.name, path: "/git-auth" }] : []),
    ...imagePullSecrets.map(({ name }) => ({
      volume: `pull-secret-${name}`,
      secret: name,
      path: `/docker-secrets/${name}`,
    })),
  ];
  return {
    volumes: [
      { name: "skills-init-config", configMap: { name: configMap } },
      ...secrets.map(({ volume, secret }) => secretVolume(volume, secret)),
    ],
    mounts: [
      { mountPath: "/skills", name: "kagent-skills" },
      { mountPath: "/etc/kagent/skills-init", name: "skills-init-config", readOnly: true },
      ...secrets.map(({ volume, path }) => ({ mountPath: path, name: volume, readOnly: true })),
    ],
  };
}
