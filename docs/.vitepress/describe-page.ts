/** Paragraphs of text: not headings, tables, quotes, containers, lists, images, and the links that TypeDoc writes to the source. */
const paragraph = /^(?![#|>:<]|[-*] |\d+\. |!\[|Defined in:)\S.*(?:\n.+)*/m;

/** The description of a page, for search engines and previews of links: the first sentences of its text, as many as fit 160 characters. */
export function describePage(source: string): string {
  const prose = source.replaceAll(/^(`{3,})[^]*?^\1$/gm, '').replaceAll(/^\*\*(Context|Decision)\.\*\* /gm, '');
  const [text = ''] = paragraph.exec(prose) ?? [];
  const plain = text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ');
  const [first = '', ...others] = plain.match(/.+?[.!?:](?= |$)/g) ?? [];
  let description = first;
  for (const sentence of others) {
    if (description.length + sentence.length > 160) break;
    description += sentence;
  }
  return description.replace(/:$/, '.');
}
