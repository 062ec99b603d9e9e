/** An API server as an administrator's kubeconfig names it. */
export interface HarvestApi {
  call(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly body: unknown;
  }>;
  close(): void;
}

export function apiOf(kubeconfigPath: string): HarvestApi;
