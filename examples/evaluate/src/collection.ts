import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MDocument } from '@quiver/rag';
import { readCases, type RetrievalCase } from '@quiver/rag/evaluate';
import { loadDocuments } from '@quiver/loaders';

/** Documents, and questions about them. */
export interface Collection {
  name: string;
  documents: MDocument[];
  cases: RetrievalCase[];
}

/** The decision records of this repository, with cases that a person wrote: each names the quote that answers its question. */
export async function readDecisions(): Promise<Collection> {
  const folder = join(import.meta.dirname, '../../../docs/decisions');
  const documents: MDocument[] = [];
  for await (const document of loadDocuments(folder, { exclude: ['README.md'] })) documents.push(document);
  return {
    name: 'decision records',
    documents,
    cases: await readCases(join(import.meta.dirname, '../cases.jsonl')),
  };
}

/** A test collection in a folder: `docs.jsonl` (id, title, text), `queries.jsonl` (id, text), `qrels.jsonl` (query, doc, gain). */
export async function readTestCollection(folder: string, name: string): Promise<Collection> {
  const lines = async <Row>(file: string): Promise<Row[]> => {
    const text = await readFile(join(folder, name, `${file}.jsonl`), 'utf8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
  };
  const documents = await lines<{ id: string; title: string; text: string }>('docs');
  const questions = await lines<{ id: string; text: string }>('queries');
  const relevant = new Map<string, RetrievalCase['relevant'][number][]>();
  for (const { query, doc, gain } of await lines<{ query: string; doc: string; gain: number }>('qrels')) {
    relevant.set(query, [...(relevant.get(query) ?? []), { source: doc, gain }]);
  }
  return {
    name,
    documents: documents.map(({ id, title, text }) => MDocument.fromText(`${title}\n\n${text}`, { source: id, title })),
    cases: questions.map(({ id, text }) => ({ question: text, relevant: relevant.get(id) ?? [] })),
  };
}
