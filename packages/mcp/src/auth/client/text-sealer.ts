import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { setRecent } from '../../set-recent.js';

/** Secrets and salts whose keys are cached. */
const maxSealers = 16;
const maxKeys = 1000;

/** Sealers by secret, because the storages of all users have the same one. At most 16; a further one replaces the one that was not used for longest. */
const sealers = new Map<string, TextSealer>();

/** The overloads of `scrypt` have no common promise. */
const deriveKey = promisify<string, Buffer, number, Buffer>(scrypt);

/** Encrypts texts with keys derived from a secret (AES-256-GCM, scrypt with a random salt). */
export class TextSealer {
  readonly #secret: string;
  /** Derived keys by salt, the most recently used last: deriving one takes 50 ms of another thread. */
  readonly #keys = new Map<string, Promise<Buffer>>();
  /** Salt of all texts that are sealed: the first that was read, so that processes that share a storage come to use one. */
  #salt: string | undefined;

  private constructor(secret: string) {
    this.#secret = secret;
  }

  static for(secret: string): TextSealer {
    const sealer = sealers.get(secret) ?? new TextSealer(secret);
    setRecent(sealers, secret, sealer, maxSealers);
    return sealer;
  }

  /** @param context - data that `open` requires again, such as the name under which the text is stored */
  async seal(text: string, context = ''): Promise<string> {
    const salt = (this.#salt ??= randomBytes(16).toString('base64'));
    const key = await this.#keyOf(salt);
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const toText = (bytes: Buffer): string => bytes.toString('base64');
    return JSON.stringify({ sealed: toText(sealed), salt, iv: toText(iv), tag: toText(cipher.getAuthTag()) });
  }

  /** @throws for another secret or context, and for a text that was changed */
  async open(text: string, context = ''): Promise<string> {
    const { sealed, salt, iv, tag } = JSON.parse(text) as Record<string, string>;
    const bytes = (value: string | undefined): Buffer => Buffer.from(String(value), 'base64');
    const key = await this.#keyOf(String(salt));
    const decipher = createDecipheriv('aes-256-gcm', key, bytes(iv), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes(tag));
    const opened = Buffer.concat([decipher.update(bytes(sealed)), decipher.final()]).toString('utf8');
    this.#salt ??= salt;
    return opened;
  }

  #keyOf(salt: string): Promise<Buffer> {
    const key = this.#keys.get(salt) ?? deriveKey(this.#secret, Buffer.from(salt, 'base64'), 32);
    setRecent(this.#keys, salt, key, maxKeys);
    key.catch(() => this.#keys.delete(salt));
    return key;
  }
}
