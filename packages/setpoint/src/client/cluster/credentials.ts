/** Who a client is to the server. Client certificates belong to the transport; the rest is headers. */
export interface Credentials {
  /** The headers that prove it. May read a file or run a plugin; rejects with `CREDENTIALS_FAILED` where that fails. */
  headers(signal?: AbortSignal): Promise<CredentialHeaders> | CredentialHeaders;
  /**
   * Told that the server answered 401 to these headers. True where another try may go better, because the credentials
   * are newer by now or can be had anew.
   */
  rejected?(headers: CredentialHeaders): boolean;
}

export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

export const anonymous: Credentials = { headers: () => ({}) };

/** Credentials of a token that never changes. */
export function bearerToken(token: string): Credentials {
  return { headers: () => ({ authorization: `Bearer ${token}` }) };
}

/** The same credentials with further headers, as impersonation needs them. */
export function withHeaders(credentials: Credentials, more: CredentialHeaders): Credentials {
  return {
    headers: async (signal) => ({ ...(await credentials.headers(signal)), ...more }),
    rejected: (headers) => credentials.rejected?.(headers) ?? false,
  };
}
