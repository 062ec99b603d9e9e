import { Buffer } from "node:buffer";
import { z } from "zod";
import { resource } from "../kinds/resource.js";
import { mutating, validating } from "./admission.js";
import { app } from "./app.js";
import { RefusedError } from "./refused-error.js";
import { kindRoute } from "./routes/route.js";
import type { WebAnswer, WebRequest } from "./routes/web-message.js";

export const Order = resource("shop.example.com/v1/Order", {
  spec: z.object({ item: z.string(), count: z.int().default(1) }),
});

export const OldOrder = resource("shop.example.com/v1beta1/Order", {
  spec: z.object({ item: z.string(), pieces: z.int() }),
});

export const Shop = resource("shop.example.com/v1/Shop", { scope: "Cluster", spec: z.object({ open: z.boolean() }) });

export const Both = Order.withVersion(OldOrder, {
  up: ({ spec }) => ({ spec: { item: spec.item, count: spec.pieces } }),
  down: ({ spec }) => ({ spec: { item: spec.item, pieces: spec.count } }),
});

/** An app with webhooks of every type. */
export const orders = app({
  name: "orders",
  kinds: [Both],
  validate: [
    validating(Order, {
      create({ spec }, ctx) {
        if (spec.count > 10) throw new RefusedError(409, "Conflict", "not that many");
        if (spec.count > 5) ctx.warn("that is a lot");
      },
    }),
  ],
  mutate: [
    mutating(Order, {
      create: (order, { user }) => ({
        ...order,
        metadata: { ...order.metadata, annotations: { ...order.metadata.annotations, by: user.username } },
      }),
    }),
  ],
  routes: [kindRoute(Order, { path: "total", handle: ({ name }) => ({ json: { total: name } }) })],
});

/** A request as the webhook server passes it on. */
export function webRequest(method: string, path: string, body: unknown = ""): WebRequest {
  const url = new URL(path, "https://webhooks");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const signal = new AbortController().signal;
  return { method, path: url.pathname, query: url.searchParams, headers: {}, body: Buffer.from(text), signal };
}

export function parsed<T>(answer: WebAnswer): T {
  return JSON.parse(Buffer.from(answer.body).toString("utf8")) as T;
}
