/** Two clusters with rarely used fields, the second one as stored by a server. */
export const UNUSUAL = String.raw`apiVersion: druid.apache.org/v1alpha1
kind: Druid
metadata:
  name: odd
  namespace: data
spec:
  image: apache/druid:33.0.0
  common.runtime.properties: |
    druid.zk.service.host=zk
    # <&> "quotes" plain
  jvm.options: "-server"
  log4j.config: "<Configuration status=\"WARN\"/>"
  metricDimensions.json: '{"a": 1}'
  core-site.xml: "<configuration/>"
  zookeeper: {type: default, spec: {properties: "druid.zk.paths.base=/druid"}}
  deepStorage: {type: default, spec: {properties: "druid.storage.type=local"}}
  podLabels: {team: a, app: hack}
  podAnnotations: {x: "1"}
  workloadAnnotations: {w: "1", z: "2"}
  tolerations: [{key: a, operator: Exists}]
  env: [{name: S, value: "1"}]
  volumes: [{name: sv, emptyDir: {sizeLimit: 1024Mi}}]
  volumeMounts: [{name: sv, mountPath: /sv}]
  additionalContainer:
    - {containerName: init, image: busybox, command: [sh], args: [-c, "true"], runAsInit: true}
  nodes:
    hot:
      nodeType: historical
      kind: StatefulSet
      druid.port: 8083
      nodeConfigMountPath: /opt/hist
      runtime.properties: druid.server.tier=hot
      extra.jvm.options: "-Xmx1g"
      replicas: 2
      podLabels: {team: b}
      env: []
      ports: [{name: jmx, containerPort: 7000}]
      resources: {limits: {cpu: 0.5, memory: 1.5Gi}, requests: {cpu: "1", memory: 512000Ki}}
      lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}
      volumeClaimTemplates:
        - metadata: {name: data, annotations: {k: v}}
          spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 0.5Ti}}}
      services:
        - metadata: {name: "hist-%s-svc", annotations: {q: "1"}, labels: {app: other, mine: "1"}}
          spec: {type: LoadBalancer, ports: [{name: http, port: 80, targetPort: 8083}, {name: jmx, port: 7000, targetPort: jmx, protocol: UDP}], selector: {x: y}}
        - spec: {clusterIP: None}
      podDisruptionBudgetSpec: {maxUnavailable: 25%, selector: {matchLabels: {nope: x}}}
      updateStrategy: {type: OnDelete}
      terminationGracePeriodSeconds: 0
      livenessProbe: {exec: {command: ["true"]}, failureThreshold: 3}
    web:
      nodeType: router
      kind: Deployment
      druid.port: 8888
      nodeConfigMountPath: ""
      runtime.properties: ""
      maxSurge: 0
      maxUnavailable: 1
      hpAutoscaler:
        maxReplicas: 5
        scaleTargetRef: {kind: Deployment, name: druid-odd-web, apiVersion: apps/v1}
        metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
        behavior: {scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 1, periodSeconds: 60}]}}
      ingressAnnotations: {a: b}
      ingress:
        ingressClassName: nginx
        rules: [{host: d.example.com, http: {paths: [{path: /, pathType: ImplementationSpecific, backend: {service: {name: svc, port: {number: 8888}}}}]}}]
        tls: [{hosts: [d.example.com], secretName: t}]
      persistentVolumeClaim:
        - metadata: {name: extra, labels: {app: mine, other: x}}
          spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1G}}}
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}]}}
      workloadAnnotations: {z: "3"}
      tolerations: [{key: b, operator: Equal, value: c, effect: NoExecute, tolerationSeconds: 0}]
      envFrom: [{secretRef: {name: x}}]
      containerSecurityContext: {runAsNonRoot: true, capabilities: {drop: [ALL]}}
      securityContext: {fsGroup: 0, runAsUser: 1000}
      dnsConfig: {options: [{name: ndots, value: "1"}]}
      dnsPolicy: None
      priorityClassName: high
      serviceAccountName: sa
      imagePullSecrets: [{name: a}]
      imagePullPolicy: Always
      nodeSelector: {disk: ssd}
      log4j.config: "<Mine/>"
---
apiVersion: druid.apache.org/v1alpha1
kind: Druid
metadata: {name: vols, namespace: x, uid: 0f5ad3c5-2f9d-4d5b-9f41-111122223333}
spec:
  common.runtime.properties: "a=<b>&cd=é"
  volumeClaimTemplates:
    - metadata: {name: s}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1e3}}, dataSource: {kind: PersistentVolumeClaim, name: p}, volumeMode: Block, selector: {matchExpressions: [{key: a, operator: Exists}]}}
  services:
    - metadata: {name: "all-%s", finalizers: [a/b]}
      spec: {type: NodePort, externalTrafficPolicy: Local, sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}, ports: [{port: 1, nodePort: 30001, appProtocol: http}], loadBalancerSourceRanges: [10.0.0.0/8], publishNotReadyAddresses: true, ipFamilyPolicy: SingleStack, externalIPs: [1.2.3.4]}
  livenessProbe: {tcpSocket: {port: http}, periodSeconds: 1, terminationGracePeriodSeconds: 7}
  readinessProbe: {grpc: {port: 1, service: ""}}
  startUpProbe: {httpGet: {path: /x, port: "named", scheme: HTTPS, host: h, httpHeaders: [{name: A, value: B}]}}
  env:
    - {name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu, containerName: c}}}
    - {name: C, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
    - {name: D, valueFrom: {secretKeyRef: {name: s, key: k, optional: false}}}
    - {name: E, valueFrom: {configMapKeyRef: {name: s, key: k}}}
    - {name: F, value: ""}
  volumes:
    - {name: a, hostPath: {path: /a, type: ""}}
    - {name: b, secret: {secretName: s, items: [{key: a, path: b, mode: 0}], defaultMode: 420, optional: true}}
    - {name: c, projected: {sources: [{serviceAccountToken: {path: t, audience: a, expirationSeconds: 600}}, {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.labels}}, {path: q, resourceFieldRef: {resource: limits.cpu, containerName: m, divisor: "0"}}]}}, {configMap: {name: c, optional: true}}, {secret: {name: z}}]}}
    - {name: d, csi: {driver: d, readOnly: false, volumeAttributes: {b: "2", a: "1"}}}
    - {name: e, ephemeral: {volumeClaimTemplate: {metadata: {labels: {q: w}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "1.5"}}}}}}
    - {name: f, nfs: {server: s, path: /p}}
    - {name: g, emptyDir: {medium: Memory, sizeLimit: 0.1Gi}}
    - {name: h, persistentVolumeClaim: {claimName: h, readOnly: true}}
    - {name: i, awsElasticBlockStore: {volumeID: v, partition: 0}}
    - {name: j, azureDisk: {diskName: d, diskURI: u, readOnly: false}}
    - {name: k, iscsi: {targetPortal: t, iqn: i, lun: 0}}
    - {name: l, rbd: {monitors: [], image: i}}
    - {name: m, glusterfs: {endpoints: e, path: p}}
    - {name: n, downwardAPI: {items: [], defaultMode: 0}}
  volumeMounts:
    - {name: a, mountPath: /a, readOnly: false, subPath: s, mountPropagation: None}
    - {name: b, mountPath: /b, subPathExpr: $(X)}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: NotIn, values: []}], matchFields: [{key: metadata.name, operator: In, values: [n]}]}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: t, namespaces: [a], namespaceSelector: {}, labelSelector: null}}]
  containerSecurityContext: {privileged: false, seLinuxOptions: {level: s0}, windowsOptions: {hostProcess: false}, seccompProfile: {type: RuntimeDefault}, procMount: Default, readOnlyRootFilesystem: false}
  securityContext: {supplementalGroups: [1, 0], sysctls: [{name: a, value: b}], fsGroupChangePolicy: Always, runAsNonRoot: false}
  dnsConfig: {searches: [a], options: [{name: x}], nameservers: []}
  imagePullSecrets: [{name: ""}, {}]
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 10%}}
  podManagementPolicy: OrderedReady
  nodes:
    brokers:
      nodeType: broker
      image: i:1
      druid.port: 80
      nodeConfigMountPath: /n
      runtime.properties: "x\n\n"
      additionalContainer:
        - {containerName: a, image: i, command: [], resources: {claims: [{name: c}], limits: {nvidia.com/gpu: 1}}, env: [{name: X}], envFrom: [{prefix: P, configMapRef: {name: m, optional: false}}], imagePullPolicy: Never}
      lifecycle: {postStart: {httpGet: {port: 1}}, preStop: {tcpSocket: {port: a}}}
      ports: [{containerPort: 1, hostPort: 1, hostIP: 0.0.0.0, protocol: SCTP}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 1, nodeAffinityPolicy: Honor, matchLabelKeys: [k]}]
      podDisruptionBudgetSpec: {minAvailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow}
      hpAutoscaler:
        minReplicas: 0
        maxReplicas: 1
        scaleTargetRef: {kind: StatefulSet, name: n}
        metrics:
          - {type: External, external: {metric: {name: m, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: "30"}}}
          - {type: Object, object: {describedObject: {kind: K, name: n}, metric: {name: m}, target: {type: Value, value: 10k}}}
          - {type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: 0.5}}}
          - {type: ContainerResource, containerResource: {name: cpu, container: c, target: {type: Utilization, averageUtilization: 0}}}
        behavior: {scaleUp: {selectPolicy: Max, policies: []}}
      ingress: {defaultBackend: {resource: {apiGroup: g, kind: K, name: n}}, rules: [{http: {paths: []}}, {host: h}]}
      persistentVolumeClaim: [{spec: {storageClassName: "", volumeName: v, dataSourceRef: {apiGroup: null, kind: K, name: n}, accessModes: []}}]
      podAnnotations: {}
      services: null
`;
