import { expect, it } from "vitest";
import { encodeStatus } from "./status-message.js";

it("writes a Status with the same bytes as the real server", () => {
  const bytes = encodeStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'configmaps "none" not found',
    reason: "NotFound",
    details: { name: "none", kind: "configmaps" },
    code: 404,
  });
  expect(Buffer.from(bytes).toString("latin1")).toBe(
    'k8s\0\n\f\n\x02v1\x12\x06Status\x12U\n\x06\n\0\x12\0\x1a\0\x12\x07Failure\x1a\x1bconfigmaps "none" not found"\bNotFound' +
      '*\x18\n\x04none\x12\0\x1a\nconfigmaps(\x002\x000\x94\x03\x1a\0"\0',
  );
});
