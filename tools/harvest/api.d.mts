export interface Api {
  call(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly body: unknown;
  }>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  close(): void;
}
export function apiOf(kubeconfigPath: string): Api;
