/** `[text](target "title")` and `[label]: target`; `<a href="target">`. */
const markdownLink = /\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+["'(][^)\n]{0,200})?\s*\)/g;
const markdownDefinition = /^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)>?/gm;
const htmlLink = /<a\s[^<>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

/** The targets of all Markdown and HTML links in a text, in the order of the three forms. */
export function linksIn(text: string): string[] {
  return [markdownLink, markdownDefinition, htmlLink].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, ...groups]) => groups.find((group) => group !== undefined) ?? ''),
  );
}
