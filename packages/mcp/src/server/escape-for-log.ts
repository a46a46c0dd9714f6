/** Controls, what turns or hides text (bidirectional marks, zero-width characters), line and paragraph separators. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes text of strangers fit for a line of a log: what could forge a line, move the cursor or hide stands there as `\u202e`. */
export function escapeForLog(text: string): string {
  return text.replaceAll(hidden, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}
