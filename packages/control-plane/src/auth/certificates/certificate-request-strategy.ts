import type { KubeObject } from "setpoint";
import { duplicate, invalidValue, notSupported, required } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import type { Strategy } from "../../kinds/strategy.js";
import { parseCertificateRequest } from "./certificate-request.js";
import type { CertificateSigningRequest } from "./certificate-requests.js";

const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const SHORTEST_SECONDS = 600;

/** Validates certificate requests. Their spec cannot change after creation. */
export const certificateRequestStrategy: Pick<Strategy, "validate" | "prepareUpdate"> = {
  validate: errorsOf,
  prepareUpdate: (request, old) => ({ ...request, spec: (old as CertificateSigningRequest).spec }) as KubeObject,
};

function errorsOf(object: KubeObject): readonly FieldError[] {
  const { spec } = object as CertificateSigningRequest;
  const usages = spec?.usages ?? [];
  const seconds = spec?.expirationSeconds ?? undefined;
  return [
    ...requestErrors(spec?.request),
    ...(usages.length === 0 ? [required("spec.usages")] : []),
    ...usages.flatMap((usage, index) =>
      USAGES.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)],
    ),
    ...usages.flatMap((usage, index) =>
      usages.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : [],
    ),
    ...signerErrors(spec?.signerName ?? ""),
    ...(seconds !== undefined && seconds < SHORTEST_SECONDS
      ? [
          invalidValue(
            "spec.expirationSeconds",
            seconds,
            "may not specify a duration less than 600 seconds (10 minutes)",
          ),
        ]
      : []),
  ];
}

function requestErrors(request: string | null | undefined): readonly FieldError[] {
  try {
    parseCertificateRequest(Buffer.from(request ?? "", "base64").toString("latin1"));
    return [];
  } catch (error) {
    return [invalidValue("spec.request", request ?? null, (error as Error).message)];
  }
}

function signerErrors(signerName: string): readonly FieldError[] {
  if (signerName === "") return [required("spec.signerName")];
  const [domain = "", path = ""] = signerName.split("/", 2);
  const isQualified = domain.includes(".") && path !== "";
  if (isQualified) return [];
  const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  return [invalidValue("spec.signerName", signerName, why)];
}
