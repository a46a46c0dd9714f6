/** Characters of a token that may appear in a text by chance. Parsers quote ten characters of what they cannot read. */
const fragmentLength = 8;

/** Returns a text without the token and without fragments of it: errors of validators, parsers and databases quote their input. */
export function redactToken(text: string, token: string): string {
  const length = Math.min(fragmentLength, token.length);
  if (length === 0) return text;
  const characters = text.split('');
  for (let start = 0; start + length <= token.length; start += 1) {
    const fragment = token.slice(start, start + length);
    for (let at = text.indexOf(fragment); at !== -1; at = text.indexOf(fragment, at + 1)) {
      characters.fill('\0', at, at + length);
    }
  }
  return characters.join('').replaceAll(/\0+/g, '[token]');
}
