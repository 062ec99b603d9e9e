import { type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { allowedNamespaces, conditionColumn, conditions, header, rules, serverTls, text } from "./parts.js";

const spec = z
  .object({
    description: text,
    url: text.min(1),
    protocol: z.enum(["SSE", "STREAMABLE_HTTP"]).default("STREAMABLE_HTTP"),
    headersFrom: z.array(header).optional(),
    timeout: text.default("30s"),
    sseReadTimeout: text.optional(),
    terminateOnClose: z.boolean().default(true),
    allowedNamespaces: allowedNamespaces.optional(),
    tls: serverTls.optional(),
  })
  .meta(
    rules({
      "!self.url.startsWith('http://') || !has(self.tls)":
        "spec.tls must be unset when spec.url has http:// scheme: a TLS opinion contradicts a plaintext URL. Either drop spec.tls, or use https:// / a scheme-less URL.",
      "!(has(self.allowedNamespaces) && has(self.allowedNamespaces.from) && (self.allowedNamespaces.from == 'All' || self.allowedNamespaces.from == 'Selector') && has(self.tls) && has(self.tls.caCertSecretRef) && size(self.tls.caCertSecretRef) > 0)":
        "spec.allowedNamespaces must not permit cross-namespace access (from: All or from: Selector) when spec.tls.caCertSecretRef is set: a pinned CA Secret is mounted onto the consuming agent's pod and Kubernetes resolves it in the agent's namespace, not this RemoteMCPServer's. Use from: Same (the default), or remove the CA Secret reference.",
    }),
  );

const status = z.object({
  observedGeneration: z.int().optional(),
  conditions,
  discoveredTools: z.array(z.object({ name: text, description: text })).optional(),
  secretHash: text.optional(),
  usedBy: z.int().min(0).default(0),
});

/** An MCP server that the operator does not run, reached by its URL. */
export const RemoteMCPServer = resource("kagent.dev/v1alpha2/RemoteMCPServer", {
  spec,
  status,
  shortNames: ["rmcps"],
  categories: ["kagent"],
  columns: {
    Protocol: ".spec.protocol",
    URL: ".spec.url",
    Accepted: conditionColumn("Accepted"),
    "Used By": ".status.usedBy",
  },
});
export type RemoteMCPServer = ObjectOf<typeof RemoteMCPServer>;
