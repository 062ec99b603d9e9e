/** See start.mjs. */
export interface KubernetesOptions {
  readonly controllerManager?: boolean;
  readonly dir?: string;
  readonly fsync?: boolean;
  readonly apiserverFlags?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  readonly serviceAccounts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Kubernetes extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** A token of the group system:masters. */
  readonly token: string;
  readonly ca: string;
  /** The path of an admin kubeconfig. */
  readonly kubeconfig: string;
  readonly dir: string;
  readonly pids: readonly number[];
  /** The folder with kubectl and the servers. */
  readonly binaries: string;
  stop(): Promise<void>;
}

export function kubernetesBinaries(): string;
export function startKubernetes(options?: KubernetesOptions): Promise<Kubernetes>;
