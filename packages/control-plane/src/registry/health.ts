import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import { COMMON_HEADERS, text } from "./negotiation/answer.js";

/** Health checks of the real server that apply here. All of them pass once the server answers. */
const CHECKS: ReadonlyMap<string, readonly string[]> = new Map([
  ["healthz", ["ping", "log", "etcd"]],
  ["livez", ["ping", "log", "etcd"]],
  ["readyz", ["ping", "log", "etcd", "etcd-readiness"]],
]);

/** Answers a health check; undefined for other paths. */
export function answerHealth({ path, query }: ApiRequest): ApiResponse | undefined {
  const [, name = "", check, ...rest] = path.split("/");
  const checks = CHECKS.get(name);
  if (checks === undefined || rest.length > 0) return undefined;
  if (check !== undefined) {
    if (!checks.includes(check)) return undefined;
    return {
      status: 200,
      headers: { ...COMMON_HEADERS, "content-type": "text/plain; charset=utf-8" },
      body: Buffer.from("ok"),
    };
  }
  return text(200, query.has("verbose") ? report(name, checks, query.getAll("exclude")) : "ok");
}

function report(name: string, checks: readonly string[], excluded: readonly string[]): string {
  const lines = checks.map((check) => `[+]${check} ${excluded.includes(check) ? "excluded: ok" : "ok"}`);
  const unknown = excluded.filter((check) => !checks.includes(check));
  const warning = `warn: some health checks cannot be excluded: no matches for ${unknown.map((each) => JSON.stringify(each)).join(",")}`;
  return [...lines, ...(unknown.length > 0 ? [warning] : []), `${name} check passed\n`].join("\n");
}
