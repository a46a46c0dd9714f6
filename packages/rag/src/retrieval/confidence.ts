/** A term of a question. */
export interface WeightedTerm {
  readonly term: string;
  /** Greater than 0; 1 for a common word. */
  readonly weight: number;
}

/** Evidence that a passage answers a question. */
interface PassageEvidence {
  /** Terms of the question. */
  readonly question: readonly WeightedTerm[];
  /** Terms of the passage, its title, file name and headings included, in their order. */
  readonly passage: readonly string[];
}

/** Weight of a term of a name, a number or an identifier: a passage without it is about something else. */
const nameWeight = 1.5;
const wordExpression = /(?<![\p{L}\p{N}])[\p{L}\p{N}][\p{L}\p{M}\p{N}._'’-]*/gu;
const hasDigitOrHump = /\p{N}|_|\p{Ll}\p{Lu}/u;
const startsWithCapital = /^\p{Lu}/u;

/**
 * Returns the different terms of a question with their weights.
 *
 * @param toTerms - returns the terms of a text
 */
export function weighTerms(question: string, toTerms: (text: string) => readonly string[]): WeightedTerm[] {
  const names = Array.from(question.matchAll(wordExpression)).flatMap(({ 0: word, index }) =>
    // Every sentence begins with a capital letter.
    hasDigitOrHump.test(word) || (index > 0 && startsWithCapital.test(word)) ? toTerms(word) : [],
  );
  const isName = new Set(names);
  return [...new Set(toTerms(question))].map((term) => ({ term, weight: isName.has(term) ? nameWeight : 1 }));
}

/** Terms of a passage among which terms of the question are near each other. */
const windowLength = 20;

/**
 * Coefficients of a logistic regression. Question sets with and without answers in the documents have the same weight, so that .5
 * separates them. Decision 0183 has the sets and the figures.
 */
const coefficients = { coverage: 5, nearness: 5.5, matched: 1.6, constant: -7.2 };

/**
 * Returns the confidence that a passage is about what a question asks for, between 0 and 1: .5 separates answered from unanswered
 * questions best.
 *
 * It depends on the share of the question's terms that the passage contains, on the share that one part of it contains (terms far apart
 * are rarely an answer), and on their number: six of twelve terms are more than one of two.
 */
export function confidenceOf(evidence: PassageEvidence): number {
  return 1 / (1 + Math.exp(-logarithmOfOdds(evidence)));
}

function logarithmOfOdds({ question, passage }: PassageEvidence): number {
  const weights = new Map(question.map(({ term, weight }) => [term, weight]));
  const total = sumOf(weights.values());
  if (total === 0) return coefficients.constant;
  const found = passage.flatMap((term, place) => (weights.has(term) ? [{ term, place }] : []));
  const weightOf = (terms: Iterable<string>): number => sumOf(Array.from(terms, (term) => weights.get(term) as number));
  const matched = weightOf(new Set(found.map(({ term }) => term)));
  return (
    (coefficients.coverage * matched + coefficients.nearness * bestWindow(found, weights)) / total +
    coefficients.matched * Math.log1p(matched) +
    coefficients.constant
  );
}

/** Returns the largest weight of different terms within a window. */
function bestWindow(
  found: readonly { readonly term: string; readonly place: number }[],
  weights: ReadonlyMap<string, number>,
): number {
  const counts = new Map<string, number>();
  let [best, sum, first] = [0, 0, 0];
  for (const { term, place } of found) {
    const count = counts.get(term) ?? 0;
    counts.set(term, count + 1);
    if (count === 0) sum += weights.get(term) as number;
    for (let oldest = found[first]; oldest && oldest.place <= place - windowLength; oldest = found[++first]) {
      const left = (counts.get(oldest.term) as number) - 1;
      counts.set(oldest.term, left);
      if (left === 0) sum -= weights.get(oldest.term) as number;
    }
    best = Math.max(best, sum);
  }
  return best;
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
