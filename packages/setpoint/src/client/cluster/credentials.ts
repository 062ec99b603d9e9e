/** The identity of a client. Client certificates belong to the transport; everything else is a header. */
export interface Credentials {
  /** The authentication headers. May read a file or run a plugin; rejects with `CREDENTIALS_FAILED` if that fails. */
  headers(signal?: AbortSignal): Promise<CredentialHeaders> | CredentialHeaders;
  /**
   * Called when the server answered 401 to these headers. True if a retry may succeed, because the credentials are
   * newer by now or can be renewed.
   */
  rejected?(headers: CredentialHeaders): boolean;
}

export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

export const anonymous: Credentials = { headers: () => ({}) };

/** Credentials with a fixed token. */
export function bearerToken(token: string): Credentials {
  return { headers: () => ({ authorization: `Bearer ${token}` }) };
}

/** The same credentials with additional headers, for impersonation. */
export function withHeaders(credentials: Credentials, more: CredentialHeaders): Credentials {
  return {
    headers: async (signal) => ({ ...(await credentials.headers(signal)), ...more }),
    rejected: (headers) => credentials.rejected?.(headers) ?? false,
  };
}
