import { QuiverError } from '@quiver/core';
import { explainMissing } from './document-loader.js';

/** Text of a file and its encoding. */
export interface DecodedText {
  text: string;
  /** Label of the encoding in the Encoding Standard, for example `windows-1252`. */
  encoding: string;
}

/** Size of the part that `chardet` examines, in bytes. */
const sampleSize = 65_536;

/**
 * Decodes text by its byte order mark, as UTF-8, or by the encoding that the optional package `chardet` detects. The byte order mark
 * is removed.
 *
 * @param encoding - encoding that the caller knows; a byte order mark overrides it
 * @throws `DOCUMENT_BINARY` for bytes that are not text; `DOCUMENT_ENCODING_UNKNOWN`
 * @see [Encoding Standard, section 4.2 – Names and labels](https://encoding.spec.whatwg.org/#names-and-labels)
 */
export async function decodeText(bytes: Uint8Array, name: string, encoding?: string): Promise<DecodedText> {
  const marked = markedEncoding(bytes) ?? encoding;
  if (marked !== undefined) return requireText(decode(bytes, marked), name);
  if (bytes.includes(0)) throw binary(name);
  const decoded = decode(bytes, 'utf-8') ?? (await detect(bytes, name));
  return requireText(decoded, name);
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

function decode(bytes: Uint8Array, label: string): DecodedText | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    return { text: decoder.decode(bytes), encoding: decoder.encoding };
  } catch {
    // An unknown label, or bytes that the encoding does not have.
    return undefined;
  }
}

async function detect(bytes: Uint8Array, name: string): Promise<DecodedText | undefined> {
  const { analyse } = await import('chardet').catch((error: unknown) => {
    try {
      return explainMissing('chardet', 'text in other encodings than Unicode')(error);
    } catch (cause) {
      throw unknownEncoding(name, cause);
    }
  });
  // Plain ASCII before the first special character tells nothing.
  const start = Math.max(0, bytes.findIndex((byte) => byte > 127) - 1024);
  for (const { name: label } of analyse(bytes.subarray(start, start + sampleSize))) {
    const decoded = decode(bytes, label);
    if (decoded) return decoded;
  }
  return undefined;
}

/** Any bytes can be decoded in an encoding such as windows-1252: control characters other than white space show that they are no text. */
const controlCharacter = /(?![\s\u007f-\u009f])\p{Cc}/u;

function requireText(decoded: DecodedText | undefined, name: string): DecodedText {
  if (!decoded) throw unknownEncoding(name);
  const { text, encoding } = decoded;
  if (encoding === 'utf-8' ? text.includes('\0') : controlCharacter.test(text)) throw binary(name);
  return decoded;
}

function binary(name: string): QuiverError {
  return new QuiverError('DOCUMENT_BINARY', `${name} contains binary data, not text.`, { details: { name } });
}

function unknownEncoding(name: string, cause?: unknown): QuiverError {
  const hint = cause instanceof Error ? `${cause.message}, or pass` : 'Pass';
  return new QuiverError(
    'DOCUMENT_ENCODING_UNKNOWN',
    `${name} is text in an unknown encoding. ${hint} its \`encoding\`, for example windows-1252.`,
    { cause, details: { name } },
  );
}
