import { QuiverError } from '@quiver/core';

/** Text of a file. */
export interface DecodedText {
  text: string;
  /** Its `encoding` by its label in the Encoding Standard, for example `windows-1252`, unless it is UTF-8. */
  metadata: { encoding?: string };
}

/** Size of the part that `chardet` examines, in bytes. */
const sampleSize = 65_536;

/**
 * Decodes text by its byte order mark, as UTF-8, or by the encoding that `chardet` detects. The byte order mark
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
  // Any bytes can be decoded in encodings such as windows-1252: damaged UTF-8 would become other letters.
  const decoded = decode(bytes, 'utf-8') ?? (isMostlyUtf8(bytes) ? undefined : await detect(bytes));
  return requireText(decoded, name);
}

/** Returns the encoding that a byte order mark names. */
export function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

function decode(bytes: Uint8Array, label: string): DecodedText | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    const { encoding } = decoder;
    return { text: decoder.decode(bytes), metadata: encoding === 'utf-8' ? {} : { encoding } };
  } catch {
    // An unknown label, or bytes that the encoding does not have.
    return undefined;
  }
}

/** Whether more of the characters above 127 are valid UTF-8 than not. In other encodings, few are by chance. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  const special = new TextDecoder().decode(sampleOf(bytes)).match(/\P{ASCII}/gu) ?? [];
  return special.filter((character) => character !== '\uFFFD').length * 2 > special.length;
}

async function detect(bytes: Uint8Array): Promise<DecodedText | undefined> {
  const { analyse } = await import('chardet');
  for (const { name: label } of analyse(sampleOf(bytes))) {
    const decoded = decode(bytes, label);
    if (decoded) return decoded;
  }
  return undefined;
}

/** Returns the words with a byte above 127: markup and English names in ASCII tell nothing, and outweigh the text. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const sample = new Uint8Array(sampleSize);
  let length = 0;
  let start = 0;
  let isSpecial = false;
  for (let index = 0; index <= bytes.length && length < sampleSize; index += 1) {
    const byte = bytes[index] ?? 0x20;
    if (byte > 127) isSpecial = true;
    if (byte > 0x20 && byte !== 0x3c && byte !== 0x3e) continue;
    if (isSpecial) {
      const word = bytes.subarray(start, Math.min(index, start + sampleSize - length));
      sample.set(word, length);
      length += word.length;
      if (length < sampleSize) sample[length++] = 0x20;
    }
    start = index + 1;
    isSpecial = false;
  }
  return sample.subarray(0, length);
}

/** Any bytes can be decoded in an encoding such as windows-1252: control characters other than white space show data instead of text. */
const controlCharacter = /(?![\s\u007f-\u009f])\p{Cc}/u;

function requireText(decoded: DecodedText | undefined, name: string): DecodedText {
  if (!decoded) throw unknownEncoding(name);
  const {
    text,
    metadata: { encoding = 'utf-8' },
  } = decoded;
  if (encoding.startsWith('utf-') ? text.includes('\0') : controlCharacter.test(text)) throw binary(name);
  return decoded;
}

function binary(name: string): QuiverError {
  return new QuiverError('DOCUMENT_BINARY', `${name} contains binary data, not text.`, { details: { name } });
}

function unknownEncoding(name: string): QuiverError {
  return new QuiverError(
    'DOCUMENT_ENCODING_UNKNOWN',
    `${name} is text in an unknown encoding. Pass its \`encoding\`, for example windows-1252.`,
    { details: { name } },
  );
}
