import { SetpointError } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { WorkLoop } from "../../registry/loops/work-loop.js";
import type { CertificateAuthority } from "../certificates/certificate-authority.js";
import { type CertificateSigningRequest, CLIENT_SIGNER } from "../certificates/certificate-requests.js";
import { callPlane } from "./plane-call.js";
import type { LoopOptions } from "./role-aggregation.js";

const RESOURCE = "certificates.k8s.io/certificatesigningrequests";
const USER_AGENT = "kube-controller-manager";
const CLIENT_USAGES: ReadonlySet<string> = new Set(["client auth", "digital signature", "key encipherment"]);
const LONGEST_SECONDS = 365 * 86_400;
const SHORTEST_SECONDS = 600;

export interface SignerOptions extends LoopOptions {
  readonly authority: CertificateAuthority;
}

/** Signs approved requests for client certificates of this server. */
export class CertificateSigner implements AsyncDisposable {
  readonly #options: SignerOptions;
  readonly #loop: WorkLoop;
  readonly #subscription: Disposable;

  constructor(options: SignerOptions) {
    this.#options = options;
    const { storage } = options;
    this.#loop = new WorkLoop(options, (name, signal) => this.#sign(name, signal));
    const snapshot = storage.snapshot(RESOURCE)!;
    for (const { key } of snapshot.entries()) this.#loop.add(key);
    this.#subscription = storage.subscribe(RESOURCE, snapshot.revision, {
      changes: (changes) => {
        for (const { type, current } of changes) if (type !== "deleted") this.#loop.add(current.key);
      },
      ended: () => {},
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#loop[Symbol.asyncDispose]();
  }

  async #sign(name: string, signal: AbortSignal): Promise<void> {
    const { storage, handler } = this.#options;
    const request = storage.get(RESOURCE, name)?.object as CertificateSigningRequest | undefined;
    if (!request || request.spec.signerName !== CLIENT_SIGNER || request.status?.certificate) return;
    const has = (type: string) => request.status?.conditions?.some((each) => each.type === type) === true;
    if (!has("Approved") || has("Denied") || has("Failed")) return;
    const target = `/apis/certificates.k8s.io/v1/${RESOURCE.split("/")[1]}/${encodeURIComponent(name)}/status`;
    const body = { ...request, status: { ...request.status, ...this.#outcome(request) } };
    const { refusal } = await callPlane(handler, { method: "PUT", target, body, userAgent: USER_AGENT }, signal);
    if (refusal && refusal.reason !== "NotFound") throw new SetpointError("LOOP_REFUSED", refusal.message);
  }

  /** The certificate, or the failure. */
  #outcome({ spec, status }: CertificateSigningRequest): object {
    try {
      const usages = spec.usages ?? [];
      if (!usages.includes("client auth") || usages.some((usage) => !CLIENT_USAGES.has(usage))) {
        throw new SetpointError(
          "CERTIFICATE_REQUEST_INVALID",
          `usages did not match [client auth] and a subset of [${[...CLIENT_USAGES].join(", ")}]`,
        );
      }
      const seconds = Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, spec.expirationSeconds ?? LONGEST_SECONDS));
      const pem = Buffer.from(spec.request, "base64").toString("latin1");
      return { certificate: Buffer.from(this.#options.authority.signRequest(pem, seconds * 1000)).toString("base64") };
    } catch (error) {
      const now = formatTime(this.#options.clock.now());
      const failed = {
        type: "Failed",
        status: "True",
        reason: "SignerValidationFailure",
        message: (error as Error).message,
        lastUpdateTime: now,
        lastTransitionTime: now,
      };
      return { conditions: [...(status?.conditions ?? []), failed] };
    }
  }
}
