import type { HostileUser } from "./attacker.js";

/** An object that an administrator makes before the attacks. */
export type Prepared = readonly [path: string, object: object];

/** Whoever a role is bound to. */
export interface Subject {
  readonly kind: "User" | "ServiceAccount";
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });

/** Whom `patcher` may impersonate, for lists of pods alone. */
export const IMPERSONATED = "impersonated";

const conditions = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["type"],
    properties: { type: { type: "string" }, message: { type: "string", maxLength: 40 } },
  },
};

const widgets = {
  metadata: { name: "widgets.attack.example.com" },
  spec: {
    group: "attack.example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: { conditions },
          },
        },
      },
    ],
  },
};

/** What `patcher` may do: all that it needs to make what it may not make. */
const PATCHER = [
  { apiGroups: [""], resources: ["configmaps", "endpoints"], verbs: ["get", "patch", "update"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
  { apiGroups: [""], resources: ["pods/ephemeralcontainers", "pods/resize"], verbs: ["get", "patch", "update"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["impersonate-on:user-info:list"] },
];

/** The namespace of the hostile tenant, with a quota as `docs/security.md` advises, and the roles of its users. */
export function preparation(namespace: string, users: Readonly<Record<HostileUser, Subject>>): readonly Prepared[] {
  const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
  const bound = (name: string, role: object, subject: Subject) => [
    bindings,
    { metadata: { name }, roleRef: role, subjects: [subject] },
  ];
  const impersonated: Subject = { kind: "User", name: IMPERSONATED, apiGroup: "rbac.authorization.k8s.io" };
  return [
    ["/api/v1/namespaces", { metadata: { name: namespace } }],
    [
      `/api/v1/namespaces/${namespace}/resourcequotas`,
      {
        metadata: { name: "objects" },
        spec: { hard: { pods: "300", "count/configmaps": "200", "count/secrets": "50" } },
      },
    ],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets],
    [
      `${RBAC}/namespaces/${namespace}/roles`,
      {
        metadata: { name: "widgets" },
        rules: [{ apiGroups: ["attack.example.com"], resources: ["widgets"], verbs: ["*"] }],
      },
    ],
    [`${RBAC}/namespaces/${namespace}/roles`, { metadata: { name: "patcher" }, rules: PATCHER }],
    [
      `${RBAC}/clusterroles`,
      {
        metadata: { name: "impersonator" },
        rules: [
          {
            apiGroups: ["authentication.k8s.io"],
            resources: ["users"],
            resourceNames: [IMPERSONATED],
            verbs: ["impersonate:user-info"],
          },
        ],
      },
    ],
    [
      `${RBAC}/clusterrolebindings`,
      {
        metadata: { name: "impersonator" },
        roleRef: roleRef("ClusterRole", "impersonator"),
        subjects: [users.patcher],
      },
    ],
    bound("edit", roleRef("ClusterRole", "edit"), users.editor),
    bound("widgets", roleRef("Role", "widgets"), users.editor),
    bound("patcher", roleRef("Role", "patcher"), users.patcher),
    bound("impersonated", roleRef("ClusterRole", "edit"), impersonated),
  ] as readonly Prepared[];
}
