/** Characters of a token that may appear in a text by chance. Parsers quote ten characters of what they cannot read. */
const fragmentLength = 8;

/** Returns a text without the token and without fragments of it: errors of validators, parsers and databases quote their input. */
export function redactToken(text: string, token: string): string {
  const length = Math.min(fragmentLength, token.length);
  if (length === 0) return text;
  // A set: a client chooses the token, and searching the text for each fragment of 8,000 equal letters takes seconds.
  const fragments = new Set<string>();
  for (let start = 0; start + length <= token.length; start += 1) fragments.add(token.slice(start, start + length));
  const characters = text.split('');
  for (let at = 0; at + length <= text.length; at += 1) {
    if (fragments.has(text.slice(at, at + length))) characters.fill('\0', at, at + length);
  }
  return characters.join('').replaceAll(/\0+/g, '[token]');
}
