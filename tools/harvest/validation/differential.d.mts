export interface ValidationApi {
  call(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<{ readonly status: number; readonly body: unknown }>;
}

export interface Agreement {
  asked: number;
  verdict: number;
  causes: number;
  wording: number;
  accepted: number;
  defaults: number;
}

export function compareKind(options: {
  readonly ours: ValidationApi;
  readonly real: ValidationApi;
  readonly id: string;
  readonly resource: object;
  readonly components: object;
  readonly sample: { readonly every: number };
  readonly onDifference?: (difference: object) => void;
}): Promise<Agreement>;
