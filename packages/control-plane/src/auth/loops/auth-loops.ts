import type { CertificateAuthority } from "../certificates/certificate-authority.js";
import { CertificateSigner } from "./certificate-signer.js";
import { NamespaceFurnishing } from "./namespace-furnishing.js";
import { type LoopOptions, RoleAggregation } from "./role-aggregation.js";

export interface AuthLoopOptions extends LoopOptions {
  readonly authority: CertificateAuthority;
}

/** What kube-controller-manager does on a real cluster for authentication and authorization. */
export function startAuthLoops({ authority, ...own }: AuthLoopOptions): readonly AsyncDisposable[] {
  return [
    new RoleAggregation(own),
    new NamespaceFurnishing({ ...own, rootCa: authority.certificate }),
    new CertificateSigner({ ...own, authority }),
  ];
}
