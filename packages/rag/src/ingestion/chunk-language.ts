import type { Chunk } from '../document/chunk.js';
import { languageOfText } from '../retrieval/terms/detect-language.js';
import { english, type Language } from '../retrieval/terms/languages.js';

/**
 * Names the language of a document in its chunks that do not show theirs, such as tables and code, so that keyword search analyzes them in it.
 * English is not named: such texts are analyzed in it anyway.
 */
export function nameLanguage(chunks: readonly Chunk[]): readonly Chunk[] {
  const shown = chunks.map(({ text, metadata }) => languageOfText(text, metadata['language']));
  const common = mostFrequent(shown);
  if (!common || common === english) return chunks;
  return chunks.map((chunk, place) => {
    if (shown[place] || 'language' in chunk.metadata) return chunk;
    return { ...chunk, metadata: { ...chunk.metadata, language: common.code } };
  });
}

function mostFrequent(languages: readonly (Language | undefined)[]): Language | undefined {
  const counts = new Map<Language, number>();
  for (const language of languages) if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
