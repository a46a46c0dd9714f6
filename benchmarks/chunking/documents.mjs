import { inputs } from './cases.mjs';
import { createCorpus } from './corpus.mjs';
import { readRealFiles } from './real-files.mjs';

/** @returns `corpus`, the texts of each format, and `documents`, the list of texts of each case */
export function readDocuments(megabytes, isReal) {
  const corpus = isReal ? readRealFiles(megabytes * 1e6) : createCorpus(megabytes * 1e6);
  const documents = Object.fromEntries(
    Object.entries(inputs).map(([name, [format, part]]) => {
      if (isReal) {
        const files = corpus[format] ?? [];
        return [name, files.slice(0, Math.ceil(files.length * part))];
      }
      const text = corpus[format];
      // A part of a JSON document is not valid JSON.
      return [name, [format === 'json' ? text : text.slice(0, Math.ceil(text.length * part))]];
    }),
  );
  return { corpus, documents };
}
