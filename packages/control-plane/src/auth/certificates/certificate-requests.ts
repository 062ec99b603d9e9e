import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import { goQuote } from "../../api/go-format.js";
import type { Json } from "../../api/json.js";
import { forbidden, type StatusError } from "../../api/status-error.js";
import type { Authorizer, UserInfo } from "../../api/user.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import { SYSTEM_MASTERS } from "../rbac/rbac-authorizer.js";
import { parseCertificateRequest } from "./certificate-request.js";

const GROUP = "certificates.k8s.io";
const RESOURCE = "certificatesigningrequests";
export const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/** The parts of a CertificateSigningRequest that this server reads. */
export interface CertificateSigningRequest extends KubeObject {
  readonly spec: {
    readonly signerName: string;
    /** Base64 of a PEM text. */
    readonly request: string;
    readonly usages?: readonly string[] | null;
    readonly expirationSeconds?: number | null;
  };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly status?: string }[] | null;
  };
}

/**
 * Admission of certificate requests: records the requester, checks who may approve and sign for a signer, and denies
 * certificates for system:masters.
 */
export function certificateRequestChecks(authorizer: Authorizer): readonly AdmissionPlugin[] {
  const isRequest = ({ definition }: AdmissionAttributes) =>
    definition.group === GROUP && definition.plural === RESOURCE;
  const is = ({ subresource, operation }: AdmissionAttributes, part: string, wanted: string) =>
    subresource === part && operation === wanted;
  return [
    {
      name: "CertificateRequester",
      concerns: isRequest,
      async mutate(attributes) {
        const { object, user } = attributes;
        return object && is(attributes, "", "CREATE") ? requestedBy(object as CertificateSigningRequest, user) : object;
      },
    },
    {
      name: "CertificateApproval",
      concerns: isRequest,
      async validate(attributes) {
        if (!is(attributes, "approval", "UPDATE")) return;
        const { signerName } = (attributes.oldObject as CertificateSigningRequest).spec;
        if (mayUseSigner(authorizer, attributes.user, "approve", signerName)) return;
        throw refusal(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
      },
    },
    {
      name: "CertificateSigning",
      concerns: isRequest,
      async validate(attributes) {
        if (!is(attributes, "status", "UPDATE")) return;
        const [before, after] = [attributes.oldObject, attributes.object] as CertificateSigningRequest[];
        const signed = ({ status }: CertificateSigningRequest) =>
          [status?.certificate ?? "", status?.conditions ?? []] as unknown as Json;
        if (isSameJson(signed(before!), signed(after!))) return;
        const { signerName } = before!.spec;
        if (mayUseSigner(authorizer, attributes.user, "sign", signerName)) return;
        throw refusal(attributes, `user not permitted to sign requests with signerName ${goQuote(signerName)}`);
      },
    },
    {
      name: "CertificateSubjectRestriction",
      concerns: isRequest,
      async validate(attributes) {
        if (!is(attributes, "", "CREATE")) return;
        const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
        if (signerName === CLIENT_SIGNER && organizationsOf(attributes, request).includes(SYSTEM_MASTERS)) {
          throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`);
        }
      },
    },
  ];
}

/** Overwrites the requester fields with the authenticated user. */
function requestedBy(request: CertificateSigningRequest, { name, uid, groups, extra }: UserInfo): KubeObject {
  const {
    username: _name,
    uid: _uid,
    groups: _groups,
    extra: _extra,
    ...spec
  } = request.spec as unknown as Record<string, unknown>;
  const requester = { username: name, ...(uid && { uid }), groups, ...(extra && { extra }) };
  return { ...request, spec: { ...spec, ...requester } } as KubeObject;
}

function organizationsOf(attributes: AdmissionAttributes, request: string): readonly string[] {
  try {
    return parseCertificateRequest(Buffer.from(request, "base64").toString("latin1")).subject.organizations ?? [];
  } catch (error) {
    throw refusal(attributes, `failed to parse CSR: ${(error as Error).message}`);
  }
}

/** Permission for the signer by name, or for its whole domain: `kubernetes.io/*`. */
function mayUseSigner(authorizer: Authorizer, user: UserInfo, verb: string, signerName: string): boolean {
  const domain = `${signerName.split("/", 1)[0]}/*`;
  const base = { type: "resource", user, verb, group: GROUP, version: "*", resource: "signers" } as const;
  return [signerName, domain].some(
    (name) => authorizer.authorize({ ...base, subresource: "", namespace: "", name }).allowed,
  );
}

function refusal({ name, object }: AdmissionAttributes, why: string): StatusError {
  return forbidden({ group: GROUP, resource: RESOURCE }, name || object?.metadata.name || "", why);
}
