import { defaultMinSize, toPackOptions, type MinSizeOptions } from './chunk-options.js';
import type { Chunker } from './pack-spans.js';
import { packSections } from './pack-sections.js';
import { findSections, type Block, type Heading } from './sections.js';
import { isGraphemeBoundary, skipWhiteSpace } from './text-boundary.js';

/** Options of the strategy `latex`. */
export interface LatexChunkOptions extends MinSizeOptions {
  strategy?: 'latex';
}

/**
 * The `latex` strategy: one chunk for each part, chapter, section, … down to paragraphs with a title, with the headings above it. A
 * section longer than `maxSize` is split between paragraphs and environments, and inside an environment only if it is too long.
 */
export function latex(given: LatexChunkOptions): Chunker {
  const options = toPackOptions(given, { minSize: defaultMinSize });
  return (text) => {
    const blocks = readLatexBlocks(text);
    return packSections(text, blocks, findSections(text, blocks, options), options);
  };
}

/** A comment, a heading, an environment's beginning or end, or a blank line. An escaped `\\%` begins no comment. */
const marks =
  /\\[\\%]|%[^\n]*|\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?(?=\s*[[{])|\\(begin|end)\s*\{([^{}\n]*)\}|\n[ \t]*\r?\n/g;

/** From the outermost to the innermost. */
const levels = ['part', 'chapter', 'section', 'subsection', 'subsubsection', 'paragraph', 'subparagraph'];

/** In these, nothing means anything until their end. */
const verbatim: ReadonlySet<string> = new Set(
  ['verbatim', 'Verbatim', 'lstlisting', 'minted', 'comment', 'filecontents'].flatMap((name) => [name, `${name}*`]),
);

/**
 * Reads headings, paragraphs and environments of a LaTeX text in order, in linear time. `document` does not count as an environment,
 * because it contains the whole text.
 */
function readLatexBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let depth = 0;
  const begin = (start: number, heading?: Heading): void => void blocks.push({ start, heading, depth });
  /** Environments that end nowhere in the rest of the text: it is searched for the end of each once. */
  const endless = new Set<string>();
  marks.lastIndex = 0;
  for (let found = marks.exec(text); found; found = marks.exec(text)) {
    const [all, command, edge, environment = ''] = found;
    const at = found.index;
    // A character that joins the backslash makes it no command.
    if (!isGraphemeBoundary(text, at, 0)) continue;
    if (command !== undefined) {
      const heading = readHeading(text, marks.lastIndex, levels.indexOf(command) + 1);
      if (!heading) continue;
      // An environment that is never closed must not hide the headings after it.
      depth = 0;
      begin(at, heading);
      marks.lastIndex = heading.end;
    } else if (edge === 'begin' && environment !== 'document') {
      begin(at);
      if (verbatim.has(environment)) {
        const mark = `\\end{${environment}}`;
        const end = endless.has(environment) ? -1 : text.indexOf(mark, marks.lastIndex);
        if (end === -1) endless.add(environment);
        else marks.lastIndex = end + mark.length;
      } else depth++;
    } else if (edge === 'end' && environment !== 'document') {
      depth = Math.max(0, depth - 1);
      const end = marks.lastIndex;
      if (isGraphemeBoundary(text, end, at)) begin(end);
    } else if (all.startsWith('\n') && isGraphemeBoundary(text, at + all.length, at)) {
      begin(at + all.length);
    }
  }
  return blocks;
}

const longestTitle = 2000;

/** Reads `[short]{title}` from `at`; `undefined` when braces do not close. */
function readHeading(text: string, at: number, level: number): Heading | undefined {
  let position = skipWhiteSpace(text, at, text.length);
  if (text[position] === '[') {
    const length = text.slice(position, position + longestTitle + 1).indexOf(']');
    if (length === -1) return undefined;
    position = skipWhiteSpace(text, position + length + 1, text.length);
  }
  if (text[position] !== '{') return undefined;
  let open = 0;
  for (let end = position; end < Math.min(text.length, position + longestTitle); end++) {
    const character = text[end];
    if (character === '\\') end++;
    else if (character === '{') open++;
    else if (character === '}' && --open === 0) {
      return {
        level,
        title: text
          .slice(position + 1, end)
          .replace(/\s+/g, ' ')
          .trim(),
        end: end + 1,
      };
    }
  }
  return undefined;
}
