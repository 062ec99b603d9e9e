import { Buffer } from "node:buffer";
import { z } from "zod";
import { resource } from "../kinds/resource.js";
import type { WebAnswer, WebRequest } from "./web-message.js";

export const Order = resource("shop.example.com/v1/Order", {
  spec: z.object({ item: z.string(), count: z.int().default(1) }),
});

export const OldOrder = resource("shop.example.com/v1beta1/Order", {
  spec: z.object({ item: z.string(), pieces: z.int() }),
});

export const Shop = resource("shop.example.com/v1/Shop", { scope: "Cluster", spec: z.object({ open: z.boolean() }) });

/** A request as the webhook server hands it on. */
export function webRequest(method: string, path: string, body: unknown = ""): WebRequest {
  const url = new URL(path, "https://webhooks");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const signal = new AbortController().signal;
  return { method, path: url.pathname, query: url.searchParams, headers: {}, body: Buffer.from(text), signal };
}

export function parsed<T>(answer: WebAnswer): T {
  return JSON.parse(Buffer.from(answer.body).toString("utf8")) as T;
}
