/** The files that kubectl's command lines read. */
export const FILES: Readonly<Record<string, string>> = {
  "definition.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.clients.example.com }
spec:
  group: clients.example.com
  scope: Namespaced
  names: { kind: Gadget, plural: gadgets, singular: gadget, shortNames: [gd], categories: [toys] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector }
      additionalPrinterColumns:
        - { name: Size, type: integer, jsonPath: .spec.size, description: How big it is. }
        - { name: Phase, type: string, jsonPath: .status.phase }
        - { name: Color, type: string, jsonPath: .spec.color, priority: 1 }
        - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
      schema:
        openAPIV3Schema:
          description: A gadget of the tests.
          type: object
          properties:
            spec:
              description: What is wished.
              type: object
              required: [size]
              properties:
                size: { type: integer, minimum: 0, description: How big it is. }
                color: { type: string, enum: [red, blue], default: red }
                replicas: { type: integer }
                parts:
                  type: array
                  items: { type: object, properties: { name: { type: string }, weight: { type: number } } }
            status:
              type: object
              properties:
                phase: { type: string }
                replicas: { type: integer }
                selector: { type: string }
                conditions:
                  type: array
                  items:
                    type: object
                    properties: { type: { type: string }, status: { type: string } }
`,
  "gadget.yaml": `
apiVersion: clients.example.com/v1
kind: Gadget
metadata: { name: one, labels: { part: gadgets } }
spec: { size: 1, replicas: 2, parts: [{ name: a, weight: 1.5 }] }
`,
  "gadget-invalid.yaml": `
apiVersion: clients.example.com/v1
kind: Gadget
metadata: { name: invalid }
spec: { size: -1, color: green }
`,
  "gadget-unknown.yaml": `
apiVersion: clients.example.com/v1
kind: Gadget
metadata: { name: unknown }
spec: { size: 1, speed: 3 }
`,
  "map.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, labels: { part: maps } }
data: { a: "1", b: "2" }
`,
  "map-changed.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, labels: { part: maps } }
data: { a: "1", c: "3" }
`,
  "several.yaml": `
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: first, labels: { set: several } } }
  - { apiVersion: v1, kind: Secret, metadata: { name: second, labels: { set: several } }, stringData: { k: v } }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: third, labels: { set: several } }
`,
  "several-fewer.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: { name: first, labels: { set: several } }
`,
  "deployment.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  paused: true
  replicas: 0
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - { name: web, image: "web:1", env: [{ name: A, value: "1" }] }
        - { name: side, image: "side:1" }
`,
  "reader.yaml": `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: clients }
rules:
  - { apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, delete] }
`,
  "raw.json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw"},"data":{"a":"1"}}',
  "broken.json": '{"apiVersion":"v1",',
  "node.yaml": `
apiVersion: v1
kind: Node
metadata: { name: worker }
`,
  editor: `#!/usr/bin/env bash
exec sed -i "$EDIT" "$1"
`,
  watching: `#!/usr/bin/env bash
# watching COUNT ACTION COMMAND...: prints the first COUNT lines of the command, and runs the action after the first.
count=$1 action=$2
shift 2
exec 3< <("$@")
for ((n = 1; n <= count; n++)); do
  IFS= read -r -t 30 line <&3 || break
  echo "$line"
  ((n == 1)) && bash -c "$action" > /dev/null
done
kill $!
`,
};
