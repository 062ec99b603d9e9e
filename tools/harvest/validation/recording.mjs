// Records the responses of a server in a file, so that they need not be requested again while the other side changes.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** resourceVersions differ between servers. */
function keyOf(method, path, { body, headers } = {}) {
  const { resourceVersion: _version, ...metadata } = body?.metadata ?? {};
  return createHash("sha1")
    .update(JSON.stringify([method, path, headers, body && { ...body, metadata }]))
    .digest("base64");
}

/** Passes requests on and records the responses; `save` writes them. */
export function recording(api) {
  const answers = new Map();
  return {
    ...api,
    async call(method, path, options) {
      const answer = await api.call(method, path, options);
      delete answer.body?.metadata?.managedFields;
      answers.set(keyOf(method, path, options), { status: answer.status, body: answer.body });
      return answer;
    },
    save: (file) =>
      writeFileSync(file, [...answers].map(([key, answer]) => `${JSON.stringify({ key, ...answer })}\n`).join("")),
  };
}

/** Answers with recorded responses. A request without a recording is an error. */
export function recorded(file) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const answers = new Map(
    lines.map((line) => {
      const { key, ...answer } = JSON.parse(line);
      return [key, answer];
    }),
  );
  return {
    async call(method, path, options) {
      const answer = answers.get(keyOf(method, path, options));
      if (answer === undefined) throw new Error(`${file} has no answer to ${method} ${path}`);
      return answer;
    },
    close() {},
  };
}
