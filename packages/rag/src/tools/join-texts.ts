/** The texts of passages, best first, separated by blank lines; those without text leave nothing. */
export function joinTexts(sources: readonly { readonly document: string }[]): string {
  return sources
    .map(({ document }) => document)
    .filter((text) => text !== '')
    .join('\n\n');
}
