/** Characters of a token that may appear in a text by chance. Parsers quote ten characters of what they cannot read. */
const fragmentLength = 8;
/** Encodings inside each other that are read, such as a percent-encoded URL in JSON. */
const maxLevels = 3;

interface Decoded {
  readonly text: string;
  /** Place of each character, and of the end, in the original text. */
  readonly places: readonly number[];
}

/**
 * Returns a text without the token and without fragments of it: errors of validators, parsers and databases quote their input. Also finds
 * it in percent-encoding, in the escapes of JSON and HTML, and in base64.
 */
export function redactToken(text: string, token: string): string {
  const length = Math.min(fragmentLength, token.length);
  if (length === 0) return text;
  const fragments = fragmentsOf(token, length);
  const characters = text.split('');
  let decoded: Decoded | undefined = { text, places: Array.from({ length: text.length + 1 }, (_, place) => place) };
  for (let level = 0; decoded && level <= maxLevels; level += 1) {
    const { text: content, places }: Decoded = decoded;
    for (let at = 0; at + length <= content.length; at += 1)
      if (fragments.has(content.slice(at, at + length))) characters.fill('\0', places[at], places[at + length]);
    decoded = decode(decoded);
  }
  return characters.join('').replaceAll(/\0+/g, '[token]');
}

/** A set: a client chooses the token, and searching the text for each fragment of 8,000 equal letters takes seconds. */
function fragmentsOf(token: string, length: number): Set<string> {
  const fragments = new Set<string>();
  for (const form of [token, ...base64FormsOf(token)])
    for (let start = 0; start + length <= form.length; start += 1) fragments.add(form.slice(start, start + length));
  return fragments;
}

/** Returns what base64 of any text with the token has in common, by the position of the token in a group of three bytes. */
function base64FormsOf(token: string): string[] {
  const bytes = new TextEncoder().encode(token);
  if (bytes.length < fragmentLength) return [];
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return [0, 1, 2].flatMap((before) => {
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    const encoded = btoa('\0'.repeat(before) + binary).slice(Math.ceil((before * 8) / 6), end);
    return [encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const encodedCharacter =
  /%([\da-f]{2})|\\u([\da-f]{4})|\\(["\\/])|&#x([\da-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);/gi;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes one level; `undefined` when there is nothing to decode. */
function decode({ text, places }: Decoded): Decoded | undefined {
  let content = '';
  const left: number[] = [];
  let rest = 0;
  for (const match of text.matchAll(encodedCharacter)) {
    const [whole, percent, escaped, plain, hexadecimal, decimal, entity = ''] = match;
    const code = parseInt(percent ?? escaped ?? hexadecimal ?? '', 16) || Number(decimal ?? 0);
    content += text.slice(rest, match.index) + (plain ?? entities[entity.toLowerCase()] ?? String.fromCharCode(code));
    // The place behind an encoded character is that of the next one.
    for (; rest <= match.index; rest += 1) left.push(places[rest] as number);
    rest = match.index + whole.length;
  }
  if (rest === 0) return undefined;
  content += text.slice(rest);
  for (; rest <= text.length; rest += 1) left.push(places[rest] as number);
  return { text: content, places: left };
}
