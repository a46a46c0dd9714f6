import { stopWords } from '../../retrieval/stop-words.js';

const capitalised =
  /\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*(?:\s+(?:(?:of|the|and|de|von|van|la|du)\s+)?\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*)*/gu;

/**
 * The names in a text, each once, in lower case: runs of words with a capital letter, without the words that only begin a sentence,
 * and the title without what stands in parentheses at its end. Languages without capital letters have no names in this sense.
 */
export function namesIn(text: string, title?: string): Set<string> {
  const names = new Set<string>();
  const add = (name: string): void => {
    const words = withoutEnd(name.toLowerCase()).split(/\s+/);
    const start = words.findIndex((word) => !stopWords.has(word));
    // Of “The Who” nothing would be left.
    const bare = words.slice(Math.max(start, 0)).join(' ').trim();
    if (bare.length > 2 && !stopWords.has(bare)) names.add(bare);
  };
  if (title !== undefined) add(withoutParenthesis(title));
  for (const [name] of text.matchAll(capitalised)) add(name);
  return names;
}

function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && ".,;:'’-".includes(name[end - 1] as string)) end -= 1;
  return name.slice(0, end);
}

function withoutParenthesis(title: string): string {
  const trimmed = title.trim();
  const start = trimmed.lastIndexOf('(');
  const isLast = start > 0 && trimmed.indexOf(')', start) === trimmed.length - 1;
  return isLast ? trimmed.slice(0, start).trim() : trimmed;
}
