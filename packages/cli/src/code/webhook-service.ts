import { type OptionValues, UsageError } from "setpoint/command";

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
}

/** `--webhook-service`, for `crds` and `rbac`. */
export const webhookServiceOption = {
  type: "string",
  placeholder: "NAMESPACE/NAME",
  description: "the Service of the webhooks of the module's apps",
} as const;

/** The Service that `--webhook-service` names; undefined where none is named. */
export function webhookServiceOf(values: OptionValues): WebhookService | undefined {
  const text = values["webhook-service"] as string | undefined;
  if (text === undefined) return undefined;
  const [namespace, name, more] = text.split("/");
  if (!namespace || !name || more !== undefined)
    throw new UsageError(`--webhook-service ${text}: expected NAMESPACE/NAME`);
  return { namespace, name };
}
