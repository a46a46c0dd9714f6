import type { OAuthClientInformationContext, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import type { StoredValues } from './stored-values.js';

/** The registrations of a client, by authorization server. Credentials of one server are never sent to another. */
export class ClientRegistrations {
  readonly #values: StoredValues;
  readonly #keyOf: (name: string) => string;
  readonly #given: StoredOAuthClientInformation | undefined;

  /**
   * @param keyOf - returns the key in the storage, which depends on the server
   * @param given - a registration from the options of the provider
   */
  constructor(values: StoredValues, keyOf: (name: string) => string, given: StoredOAuthClientInformation | undefined) {
    this.#values = values;
    this.#keyOf = keyOf;
    this.#given = given;
  }

  /** Whether the options contain a registration. */
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
    // Callers without an issuer receive the newest registration.
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

  /** Returns the first authorization server that the given registration was used at. */
  async #issuerOfGiven(issuer: string): Promise<string> {
    const bound = await this.#values.read(this.#keyOf('client_issuer'));
    if (typeof bound?.['issuer'] === 'string') return bound['issuer'];
    await this.#values.write(this.#keyOf('client_issuer'), { issuer });
    return issuer;
  }
}
