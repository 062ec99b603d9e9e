/** The operator's settings for all agents. */
export interface TranslateSettings {
  readonly imageRegistry: string;
  readonly imageTag: string;
  readonly imagePullPolicy: string;
  /** Added to every agent's pull secrets. */
  readonly imagePullSecret?: string | undefined;
  readonly pythonRepository: string;
  readonly goRepository: string;
  readonly skillsInitRepository: string;
  /** Where agents call the operator: `http://NAME.NAMESPACE:8083`. */
  readonly controllerName: string;
  readonly controllerNamespace: string;
  readonly uiUrl?: string | undefined;
  readonly bindHost: string;
  /** Environment variables (`OTEL_…`) of every agent. */
  readonly environment: Readonly<Record<string, string>>;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string | undefined;
  /** The proxy for URLs inside the cluster. */
  readonly proxyUrl?: string | undefined;
  /** Calls external URLs over plain HTTP, for a proxy that originates TLS. */
  readonly plaintextEgress: boolean;
  /** Copies the Agent's annotations to all its children, as kagent does. */
  readonly inheritAnnotations: boolean;
}

export const DEFAULT_SETTINGS: TranslateSettings = {
  imageRegistry: "ghcr.io",
  imageTag: "0.10.0-rc3",
  imagePullPolicy: "IfNotPresent",
  pythonRepository: "kagent-dev/kagent/app",
  goRepository: "kagent-dev/kagent/golang-adk",
  skillsInitRepository: "kagent-dev/kagent/skills-init",
  controllerName: "kagent-controller",
  controllerNamespace: "kagent",
  bindHost: "0.0.0.0",
  environment: {},
  podLabels: {},
  plaintextEgress: false,
  inheritAnnotations: false,
};
