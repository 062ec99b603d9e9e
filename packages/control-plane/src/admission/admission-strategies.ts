import type { StrategyExtras } from "../builtin/built-in-strategies.js";
import {
  bindingStrategy,
  mutatingBindingStrategy,
  mutatingPolicyStrategy,
  policyStrategy,
} from "./policies/policy-strategies.js";
import { webhookStrategy } from "./webhooks/webhook-strategies.js";

const GROUP = "admissionregistration.k8s.io";

/** Validation of webhook configurations, admission policies and their bindings. */
export const admissionStrategies: StrategyExtras = {
  [`${GROUP}/mutatingwebhookconfigurations`]: webhookStrategy,
  [`${GROUP}/validatingwebhookconfigurations`]: webhookStrategy,
  [`${GROUP}/validatingadmissionpolicies`]: {
    ...policyStrategy,
    statusKeeps: ["labels", "annotations", "finalizers", "ownerReferences"],
  },
  [`${GROUP}/validatingadmissionpolicybindings`]: bindingStrategy,
  [`${GROUP}/mutatingadmissionpolicies`]: mutatingPolicyStrategy,
  [`${GROUP}/mutatingadmissionpolicybindings`]: mutatingBindingStrategy,
};
