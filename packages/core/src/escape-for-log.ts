/** Controls, bidirectional marks, zero-width characters, tags, and line and paragraph separators. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes untrusted text for a log line: characters that could forge a line, move the cursor or hide text become escapes such as `\u202e`. */
export function escapeForLog(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
