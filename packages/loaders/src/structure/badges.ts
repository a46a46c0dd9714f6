import type { SkippedText } from '@quiver/rag/document';
import { partsOfLines, toLines } from './line-parts.js';

/** Pictures, also inside a link. Their parts have a limit, so that the time stays linear. */
const pictures =
  /\[?!\[[^\]\n]{0,300}\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])(?:\]\([^)\n]{0,1000}\)|\]\[[^\]\n]{0,300}\])?/g;
/** Tags and comments. */
const markup = /<!--[^>\n]{0,1000}-->|<\/?[a-z][^<>\n]{0,2000}>/gi;
const separators = /[\s|·•&;,-]|&nbsp;/g;

/** Returns the lines of a Markdown text that consist of badges and other pictures, or of HTML without text. */
export function findBadges(text: string): SkippedText[] {
  if (!text.includes('![') && !text.includes('<')) return [];
  const lines = toLines(text);
  let fence = '';
  const kinds = lines.map(({ text: line }) => {
    const [, mark = ''] = /^\s{0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
      return undefined;
    }
    if (mark !== '') fence = mark;
    if (mark !== '' || !/!\[|</.test(line)) return undefined;
    const rest = line.replace(pictures, '').replace(markup, '');
    return rest.replace(separators, '') === '' && rest !== line ? 'badges' : undefined;
  });
  return partsOfLines(lines, kinds);
}
