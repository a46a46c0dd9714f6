import { QuiverError } from '@quiver/core';
import type { StoredValues } from './stored-values.js';

/** Milliseconds until the response of a sign-in must arrive. */
const lifetime = 10 * 60_000;

/** The parameters of a sign-in page that was shown, in the storage of the provider, until its response arrives. */
export class PendingSignIn {
  readonly #values: StoredValues;
  readonly #keyOf: (name: string) => string;
  readonly #now: () => number;

  /** @param keyOf - returns the key in the storage, which depends on the server */
  constructor(values: StoredValues, keyOf: (name: string) => string, now: () => number) {
    this.#values = values;
    this.#keyOf = keyOf;
    this.#now = now;
  }

  /** @param issuer - the authorization server whose page is shown */
  begin(state: string, issuer: string | undefined): Promise<void> {
    const kept = { state, expires_at: this.#now() + lifetime, ...(issuer !== undefined && { issuer }) };
    return this.#values.write(this.#keyOf('state'), kept);
  }

  /** Whether a page was shown and its response is pending. */
  async isAwaited(): Promise<boolean> {
    return this.#isFresh(await this.#values.read(this.#keyOf('state')));
  }

  /** Whether the value is the state of the pending sign-in. Unlike {@link redeem}, it changes nothing. */
  async expects(received: string): Promise<boolean> {
    const expected = await this.#values.read(this.#keyOf('state'));
    return this.#isFresh(expected) && expected?.['state'] === received;
  }

  /**
   * Accepts a state once, within ten minutes. An invalid state ends the sign-in.
   *
   * @returns the authorization server whose page was shown, if known
   * @throws `OAUTH_STATE_INVALID` when the value is missing, unknown, used or too old
   * @see [RFC 9700, section 4.7 – Cross-Site Request Forgery](https://www.rfc-editor.org/rfc/rfc9700.html#section-4.7)
   */
  async redeem(received: string | undefined): Promise<string | undefined> {
    const expected = await this.#values.read(this.#keyOf('state'));
    await this.#values.write(this.#keyOf('state'), undefined);
    if (received !== undefined && received !== '' && this.#isFresh(expected) && expected?.['state'] === received) {
      return typeof expected['issuer'] === 'string' ? expected['issuer'] : undefined;
    }
    await this.end();
    throw new QuiverError(
      'OAUTH_STATE_INVALID',
      'The response does not belong to a sign-in that this client began in the last ten minutes. Sign in again.',
    );
  }

  /** @param page - the sign-in page, whose query contains the requested scope */
  keepRequest(page: URL): Promise<void> {
    return this.#values.write(this.#keyOf('requested_scope'), { scope: page.searchParams.get('scope') ?? '' });
  }

  /** Returns the scope that the page requested. */
  async requestedScope(): Promise<string | undefined> {
    const scope = (await this.#values.read(this.#keyOf('requested_scope')))?.['scope'];
    return typeof scope === 'string' && scope !== '' ? scope : undefined;
  }

  keepVerifier(codeVerifier: string): Promise<void> {
    return this.#values.write(this.#keyOf('code_verifier'), { codeVerifier });
  }

  /** @throws `OAUTH_VERIFIER_MISSING` when no sign-in has begun */
  async verifier(): Promise<string> {
    const stored = (await this.#values.read(this.#keyOf('code_verifier')))?.['codeVerifier'];
    if (typeof stored === 'string') return stored;
    throw new QuiverError(
      'OAUTH_VERIFIER_MISSING',
      'No sign-in has begun with this storage. Begin one, then finish it.',
    );
  }

  async end(): Promise<void> {
    for (const name of ['code_verifier', 'state', 'requested_scope']) {
      await this.#values.write(this.#keyOf(name), undefined);
    }
  }

  #isFresh(state: Record<string, unknown> | undefined): boolean {
    return typeof state?.['expires_at'] === 'number' && state['expires_at'] > this.#now();
  }
}
