import type { CertificateAuthority } from "../certificates/certificate-authority.js";
import { CertificateSigner } from "./certificate-signer.js";
import { NamespaceFurnishing } from "./namespace-furnishing.js";
import { type LoopOptions, RoleAggregation } from "./role-aggregation.js";

export interface AuthLoopOptions extends LoopOptions {
  readonly authority: CertificateAuthority;
}

/** The parts of kube-controller-manager that serve authentication and authorization. */
export function startAuthLoops({ authority, ...own }: AuthLoopOptions): readonly AsyncDisposable[] {
  return [
    new RoleAggregation(own),
    new NamespaceFurnishing({ ...own, rootCa: authority.certificate }),
    new CertificateSigner({ ...own, authority }),
  ];
}
