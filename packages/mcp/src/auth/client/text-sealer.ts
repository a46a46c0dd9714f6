import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';

/** Derived keys that are kept: those of the processes that write to one storage. */
const maxKeys = 16;

/** Encrypts texts with keys derived from a secret (AES-256-GCM, scrypt with a random salt). */
export class TextSealer {
  readonly #secret: string;
  /** Derived keys by salt, the most recently used last: deriving one takes 50 ms. */
  readonly #keys = new Map<string, Buffer>();

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** @param context - data that `open` requires again, such as the name under which the text is stored */
  seal(text: string, context = ''): string {
    // The salt that was read last: processes that share a storage come to use one.
    const salt = [...this.#keys.keys()].at(-1) ?? randomBytes(16).toString('base64');
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(salt), iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const toText = (bytes: Buffer): string => bytes.toString('base64');
    return JSON.stringify({ sealed: toText(sealed), salt, iv: toText(iv), tag: toText(cipher.getAuthTag()) });
  }

  /** @throws for another secret or context, and for a text that was changed */
  open(text: string, context = ''): string {
    const { sealed, salt, iv, tag } = JSON.parse(text) as Record<string, string>;
    const bytes = (value: string | undefined): Buffer => Buffer.from(String(value), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.#keyOf(String(salt)), bytes(iv), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes(tag));
    return Buffer.concat([decipher.update(bytes(sealed)), decipher.final()]).toString('utf8');
  }

  #keyOf(salt: string): Buffer {
    const key = this.#keys.get(salt) ?? scryptSync(this.#secret, Buffer.from(salt, 'base64'), 32);
    this.#keys.delete(salt);
    this.#keys.set(salt, key);
    for (const oldest of this.#keys.keys()) if (this.#keys.size > maxKeys) this.#keys.delete(oldest);
    return key;
  }
}
