/**
 * The terms of the recipe that the published figures of the test collections were made with: the stop words of `lexicalTerms`, and stems
 * by a short list of suffixes. Another program's BM25 over these terms is what `Bm25Index` is compared with.
 */
export function recipeTerms(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .normalize('NFKD')
      .replaceAll(/[̀-ͯ]/g, '')
      .match(/[a-z0-9]+/g) ?? [];
  return words.filter((word) => word.length > 1 && !stopWords.has(word)).map((word) => stem(word));
}

const stopWords = new Set(
  (
    'a an the of and or to in on for with by at from as is are was were be been it its this that these those which who whom what when ' +
    'where how why do does did has have had not no but if than then there their they he she his her him we you i my our your into over ' +
    'under between about also can could would should may might will shall such other more most some any each all one two'
  ).split(' '),
);

/** Applied in order; the first that leaves three letters wins. */
const suffixes: readonly (readonly [suffix: string, replacement: string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['fulness', 'ful'],
  ['iveness', 'ive'],
  ['ingly', ''],
  ['edly', ''],
  ['ies', 'y'],
  ['sses', 'ss'],
  ['ments', 'ment'],
  ['ing', ''],
  ['ed', ''],
  ['ly', ''],
  ['es', ''],
  ['s', ''],
];

function stem(word: string): string {
  if (word.endsWith('ss')) return word;
  for (const [suffix, replacement] of suffixes) {
    if (word.endsWith(suffix) && word.length - suffix.length >= 3) return word.slice(0, -suffix.length) + replacement;
  }
  return word;
}
