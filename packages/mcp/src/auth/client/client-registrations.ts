import type { OAuthClientInformationContext, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import type { StoredValues } from './stored-values.js';

/** Who the client is at each authorization server. What one of them issued is never shown to another. */
export class ClientRegistrations {
  readonly #values: StoredValues;
  readonly #keyOf: (name: string) => string;
  readonly #given: StoredOAuthClientInformation | undefined;

  /**
   * @param keyOf - the key in the storage, which depends on the server
   * @param given - a registration that was made by hand
   */
  constructor(values: StoredValues, keyOf: (name: string) => string, given: StoredOAuthClientInformation | undefined) {
    this.#values = values;
    this.#keyOf = keyOf;
    this.#given = given;
  }

  /** Whether there is a registration that was made by hand. */
  get isGiven(): boolean {
    return this.#given !== undefined;
  }

  async find(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    if (this.#given) {
      if (!context) return this.#given;
      const issuer = this.#given.issuer ?? (await this.#issuerOfGiven(context.issuer));
      if (issuer === context.issuer) return { ...this.#given, issuer };
    }
    const stored = await this.#values.read(this.#keyAt(context?.issuer));
    return typeof stored?.['client_id'] === 'string' ? (stored as StoredOAuthClientInformation) : undefined;
  }

  async save(information: StoredOAuthClientInformation, context?: OAuthClientInformationContext): Promise<void> {
    await this.#values.write(this.#keyAt(context?.issuer), information);
    // Without an issuer at hand, the newest registration counts.
    if (context) await this.#values.write(this.#keyAt(undefined), information);
  }

  async forget(issuer: string | undefined): Promise<void> {
    if (issuer !== undefined) await this.#values.write(this.#keyAt(issuer), undefined);
    await this.#values.write(this.#keyAt(undefined), undefined);
  }

  #keyAt(issuer: string | undefined): string {
    const key = this.#keyOf('client_info');
    return issuer === undefined ? key : `${key}:${issuer}`;
  }

  /** The first authorization server that the registration made by hand was used at. */
  async #issuerOfGiven(issuer: string): Promise<string> {
    const bound = await this.#values.read(this.#keyOf('client_issuer'));
    if (typeof bound?.['issuer'] === 'string') return bound['issuer'];
    await this.#values.write(this.#keyOf('client_issuer'), { issuer });
    return issuer;
  }
}
