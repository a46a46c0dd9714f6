/** Characters of a token that may appear in a log by chance. Parsers quote ten characters of what they cannot read. */
const fragmentLength = 8;

/** Returns a text without the token and without fragments of it. Errors of validators and parsers quote their input. */
export function redactToken(text: string, token: string): string {
  if (token.length <= fragmentLength) return token === '' ? text : text.replaceAll(token, '[token]');
  const fragments = new Set<string>();
  for (let start = 0; start + fragmentLength <= token.length; start += 1) {
    fragments.add(token.slice(start, start + fragmentLength));
  }
  let redacted = '';
  let kept = 0;
  for (let at = 0; at + fragmentLength <= text.length; at += 1) {
    if (!fragments.has(text.slice(at, at + fragmentLength))) continue;
    let end = at + fragmentLength;
    while (fragments.has(text.slice(end - fragmentLength + 1, end + 1))) end += 1;
    redacted += `${text.slice(kept, at)}[token]`;
    kept = end;
    at = end - 1;
  }
  return redacted + text.slice(kept);
}
