import { Bm25Index } from '../bm25-index.js';
import { type Language, languages } from './languages.js';
import type { TermAnalyzer } from './term-analyzer.js';

/** Languages of fewer texts of the same script are ignored in queries: most of these texts are not what they were detected as. */
const smallestShare = 0.05;

/** Creates an index for keyword search over the terms of an analyzer. */
export function createKeywordIndex(analyzer: TermAnalyzer): Bm25Index {
  /** Texts by language, replaced and removed ones included. */
  const counts = new Map<Language, number>();
  return new Bm25Index({
    toTerms: (text, named) => {
      const language = analyzer.languageOf(text, named);
      counts.set(language, (counts.get(language) ?? 0) + 1);
      return analyzer.toTerms(text, language);
    },
    toQueryTerms: (text) => analyzer.toQueryTerms(text, frequentOf(counts)),
  });
}

function frequentOf(counts: ReadonlyMap<Language, number>): Language[] {
  const totals = new Map<string, number>();
  for (const [{ script }, count] of counts) totals.set(script, (totals.get(script) ?? 0) + count);
  // In an order that does not depend on that of the texts, because it decides the order of the terms and thereby of additions.
  return languages.filter(
    (language) =>
      (counts.get(language) ?? 0) > 0 &&
      (counts.get(language) as number) >= (totals.get(language.script) as number) * smallestShare,
  );
}
