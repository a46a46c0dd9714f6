// Compares passages with the answers of cases, independent of the loader that made the passages: white space, punctuation, case,
// Markdown, HTML and roff markup, permalinks and hyphens at line ends do not matter.

/**
 * Returns whether a passage contains an answer of a case.
 *
 * @param passage - `{ text, sources }`: its text, and the documents that it is from
 * @param answer - `{ source, quote }`, where ` … ` in the quote stands for any text; or `{ source, row, header }`, with cells of one row
 * from left to right, `|` between the forms that a cell may have, and names of columns, which the passage must contain as well
 */
export function containsAnswer({ text, sources }, { source, quote, row, header = [] }) {
  if (!sources.some((own) => own === source || own.startsWith(`${source}#`))) return false;
  if (quote !== undefined) return containsQuote(text, quote, source);
  const words = toWords(stripMarkup(text, source));
  return containsRow(words, row) && header.every((name) => findRun(words, toWords(name), 0) !== -1);
}

function containsQuote(text, quote, source) {
  const parts = quote.split(/\s*…\s*/).filter(Boolean);
  const plain = stripMarkup(text, source);
  const letters = toWords(plain).join('');
  let from = 0;
  const isLiteral = parts.every((part) => {
    const wanted = toWords(stripMarkup(part, source)).join('');
    const at = letters.indexOf(wanted, from);
    from = at + wanted.length;
    return at !== -1;
  });
  return isLiteral || parts.every((part) => resembles(toWords(plain), toWords(stripMarkup(part, source))));
}

/** Words of a quote that a passage may lack, and words between them that it may add, as shares of the quote. */
const mayLack = 0.1;
const mayAdd = 0.5;

/** Returns whether a text contains words in their order, with a few others in between: a page number, a footnote, the target of a link. */
function resembles(words, wanted) {
  if (wanted.length < 8) return false;
  const lacking = Math.floor(wanted.length * mayLack);
  for (let start = 0; start < words.length; start += 1) {
    if (words[start] !== wanted[0] && words[start] !== wanted[1]) continue;
    let found = 0;
    const end = Math.min(words.length, start + Math.ceil(wanted.length * (1 + mayAdd)));
    let at = start;
    for (const word of wanted) {
      const next = words.indexOf(word, at);
      if (next === -1 || next >= end) continue;
      found += 1;
      at = next + 1;
    }
    if (found >= wanted.length - lacking) return true;
  }
  return false;
}

/** Words between two cells of a row: those of the cells that a case does not name, and their headers. */
const maxGap = 60;

function containsRow(words, row) {
  const cells = row.map((cell) => cell.split('|').map(toWords));
  const follows = (index, from, isFirst) => {
    if (index === cells.length) return true;
    const limit = isFirst ? words.length : Math.min(words.length, from + maxGap);
    return cells[index].some((cell) => {
      for (let at = findRun(words, cell, from); at !== -1 && at < limit; at = findRun(words, cell, at + 1)) {
        if (follows(index + 1, at + cell.length, false)) return true;
      }
      return false;
    });
  };
  return follows(0, 0, true);
}

/** Returns the place of consecutive words, or -1. */
function findRun(words, run, from) {
  for (let at = words.indexOf(run[0], from); at !== -1; at = words.indexOf(run[0], at + 1)) {
    if (run.every((word, index) => words[at + index] === word)) return at;
  }
  return -1;
}

/** Returns the words of a text in lower case. A decimal number is one word; a comma separates words, as in rows of CSV. */
export function toWords(text) {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/\d+(?:\.\d+)+|\p{N}+|[\p{L}\p{M}\p{N}]+/gu);
  // Without the zeros at its end, 5.10 is the same cell as 5.1.
  return (words ?? []).map((word) => (/^\d+\.\d+$/.test(word) ? word.replace(/\.?0+$/, '') : word));
}

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', para: '', mdash: '—', ndash: '–' };

/** Returns the text that a reader sees, without the markup that can be recognized. */
export function stripMarkup(text, source = '') {
  const plain = isRoff(source) ? stripRoff(text) : text;
  return plain
    .replaceAll(/&(#x?[\da-f]+|\w+);/gi, (whole, name) => decodeEntity(name) ?? whole)
    .replaceAll('\u00AD', '')
    .replaceAll('¶', '')
    .replaceAll(/\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, ']')
    .replaceAll(/<!--.*?-->/gs, ' ')
    .replaceAll(/<\/?[a-z][^<>\n]{0,300}>/gi, ' ');
}

function decodeEntity(name) {
  if (!name.startsWith('#')) return entities[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function isRoff(source) {
  return /\.[1-9]$/.test(source);
}

/** Requests and macros at the start of lines, macros of mdoc within them, and escapes. */
function stripRoff(text) {
  return text
    .replaceAll(/^[.'](?:\\"|ig).*$/gm, ' ')
    .replaceAll(/^[.'][ \t]*([A-Za-z]{1,2})\b(.*)$/gm, (_, macro, rest) =>
      /^[A-Z]/.test(macro) ? rest.replaceAll(/(?<=^|\s)[A-Z][a-z](?=\s|$)/g, ' ') : ' ',
    )
    .replaceAll(/\\f(?:\[[^\]]*\]|\(..|.)/g, '')
    .replaceAll(/\\(?:\((?:aq|dq|lq|rq|oq|cq|em|en|hy|bu|co)|\[[^\]]*\]|s[+-]?\d|[&|^%/,:])/g, '')
    .replaceAll('\\-', '-')
    .replaceAll(/\\(.)/g, '$1');
}
