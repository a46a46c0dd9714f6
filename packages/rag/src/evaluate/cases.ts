import { invalidOptions } from '@quiver/core/internal';

interface TargetFields {
  id: string;
  source: string;
  quote: string;
  startIndex: number;
  endIndex: number;
}

type Only<Field extends keyof TargetFields> = Pick<TargetFields, Field> & {
  [Other in Exclude<keyof TargetFields, Field>]?: never;
};

/** Part of the answer of a question: a record by its id, any chunk of a source, a quote, or a place in a source. */
export type CaseTarget = (
  | Only<'id'>
  | Only<'source'>
  | Only<'quote'>
  | Only<'quote' | 'source'>
  | Only<'source' | 'startIndex' | 'endIndex'>
) & {
  /** Worth to nDCG, greater than 0. Default 1. */
  gain?: number;
};

/**
 * A question with what its answer needs. Quotes and places hold for every chunk size; ids only until the next change of the chunks.
 *
 * - `{ quote, source? }`: results that contain the text together, compared by letters and digits alone, so that case, white space and
 *   punctuation do not matter. Without `source` in any document.
 * - `{ source, startIndex, endIndex }`: results whose places cover these characters of the document (`metadata.source`, `startIndex` and
 *   `endIndex`).
 * - `{ source }`: any result of the document.
 * - `{ id }`: the record.
 */
export interface RetrievalCase {
  question: string;
  /** At least one; recall counts each. */
  relevant: readonly CaseTarget[];
  /** The expected answer, for programs that rate generated answers. The evaluation of retrieval does not read it. */
  answer?: string;
}

/** More letters make the comparison of a quote that is spread over several chunks slow. */
const maxQuoteLetters = 10_000;

/** Checks cases of any origin. @throws `OPTIONS_INVALID` with the number of the case */
export function checkCases(cases: unknown): readonly RetrievalCase[] {
  if (!Array.isArray(cases) || cases.length === 0) {
    throw invalidOptions('An evaluation needs cases: a list of { question, relevant }, not an empty one.');
  }
  cases.forEach((one: unknown, index) => checkCase(one, `Case ${index + 1}`));
  return cases as RetrievalCase[];
}

/** @param what - the case, for messages */
export function checkCase(value: unknown, what: string): asserts value is RetrievalCase {
  const { question, relevant } = (value ?? {}) as Partial<Record<keyof RetrievalCase, unknown>>;
  if (typeof question !== 'string' || question.trim() === '') {
    throw invalidOptions(`${what} needs a question, a text that is not empty.`);
  }
  if (!Array.isArray(relevant) || relevant.length === 0) {
    throw invalidOptions(`${what} ('${question}') needs relevant, a list of at least one quote, place, source or id.`);
  }
  for (const target of relevant as unknown[]) {
    const problem = findProblem(target);
    if (problem) throw invalidOptions(`${what} ('${question}'): ${problem}`);
  }
}

function findProblem(target: unknown): string | undefined {
  const given = Object(target) as Partial<Record<keyof TargetFields | 'gain', unknown>>;
  const { gain = 1, ...parts } = given;
  const fields = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (!forms.has(fields.sort().join(', '))) {
    const shown = typeof target === 'string' ? `the text '${target}'` : `{ ${fields.join(', ')} }`;
    return `a relevant part is { id }, { source }, { quote, source? } or { source, startIndex, endIndex }, not ${shown}.`;
  }
  if (!(typeof gain === 'number' && gain > 0 && gain < Infinity)) return 'gain must be a number greater than 0.';
  const { id, source, quote, startIndex, endIndex } = parts;
  for (const [name, value] of Object.entries({ id, source, quote })) {
    if (value !== undefined && (typeof value !== 'string' || value === '')) return `${name} must be a text.`;
  }
  if (typeof quote === 'string') {
    const { length } = toLetters(quote);
    if (length > 0 && length <= maxQuoteLetters) return undefined;
    return `the quote '${quote.slice(0, 60)}' must have 1 to ${maxQuoteLetters} letters and digits, not ${length}.`;
  }
  if (startIndex === undefined) return undefined;
  const isPlace = [startIndex, endIndex].every((at) => Number.isSafeInteger(at) && (at as number) >= 0);
  if (isPlace && (startIndex as number) < (endIndex as number)) return undefined;
  return `a place needs a startIndex and a larger endIndex, not ${String(startIndex)} and ${String(endIndex)}.`;
}

const forms: ReadonlySet<string> = new Set(['id', 'source', 'quote', 'quote, source', 'endIndex, source, startIndex']);

/** Returns a description of a part for reports and messages. */
export function describeTarget({ id, source, quote, startIndex, endIndex }: CaseTarget): string {
  if (id !== undefined) return `the record '${id}'`;
  if (quote === undefined) {
    return startIndex === undefined ? `'${source}'` : `the characters ${startIndex} to ${endIndex} of '${source}'`;
  }
  const text = quote.replaceAll(/\s+/g, ' ');
  const shown = text.length > 160 ? `${text.slice(0, 160)}…` : text;
  return `the quote “${shown}”${source === undefined ? '' : ` of '${source}'`}`;
}

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
