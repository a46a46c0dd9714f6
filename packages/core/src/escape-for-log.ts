/** Controls, what turns or hides text (bidirectional marks, zero-width characters, tags), line and paragraph separators. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes text of strangers fit for a line of a log: what could forge a line, move the cursor or hide stands there as `\u202e`. */
export function escapeForLog(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
