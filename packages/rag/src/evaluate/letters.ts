/**
 * Returns the letters, their marks, and the digits of a text in lower case: what remains of a quote in every format. Compatibility forms
 * are equal to their plain letters (NFKC).
 */
export function toLetters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
