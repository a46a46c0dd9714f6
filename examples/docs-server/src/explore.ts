import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  viewGraph,
  type Embedder,
  type GraphQueryResult,
  type GraphRAGOutput,
  type VectorQueryOutput,
} from '@quiver/rag';
import type { LocalVector } from '@quiver/rag/local';
import { graphToHtml } from '@quiver/rag/node';
import { excerpt, seconds, toPlace } from './print.ts';

/** Number of passages to compare from each result. */
export const compared = 5;

/** The document with the answer shares hardly any words with the question. A link leads to it. */
export const ownExploration: Exploration = {
  question: 'Which library parses HTML for chunking, and what do the other packages need?',
  answeredIn: 'docs/decisions/0008-runtime-dependencies.md',
};

export interface Exploration {
  question: string;
  /** File that the graph finds and the search does not, if known. */
  answeredIn?: string;
}

/** Prints the first passage that only the graph found, with its path; or that the graph found no other file. */
export function printExploration(
  { question, answeredIn }: Exploration,
  searched: VectorQueryOutput,
  explored: GraphRAGOutput,
  milliseconds: number,
): void {
  console.log(`\nExplored   ${question} (${seconds(milliseconds)})`);
  const known = new Set(searched.sources.map(({ metadata }) => metadata['source'] as string));
  if (answeredIn !== undefined && known.has(answeredIn))
    return console.log(`  searchDocs already finds ${answeredIn} among its first ${compared} passages.`);
  const isNew = ({ metadata, path }: GraphQueryResult): boolean => path.length > 0 && !known.has(metadata['source']);
  const isAnswer = (source: GraphQueryResult): boolean => isNew(source) && source.metadata['source'] === answeredIn;
  const found = explored.sources.find(isAnswer) ?? explored.sources.find(isNew);
  if (!found)
    return console.log(
      `  exploreDocs finds no other file than searchDocs, among the first ${compared} passages of each.`,
    );
  console.log(`  Not among the first ${compared} passages of searchDocs, but among those of exploreDocs:`);
  console.log(`  ${explored.sources.indexOf(found) + 1}. ${found.score.toFixed(3)}  ${toPlace(found.metadata)}`);
  console.log(`     ${excerpt(found.document)}`);
  const names = new Map(
    [...searched.sources, ...explored.sources].map(({ id, metadata }) => [id, metadata['source'] as string]),
  );
  for (const { from, kind, reason } of found.path)
    console.log(`     ↳ from ${names.get(from) ?? 'a passage between'}, ${kind}: ${reason}`);
}

export interface PictureOptions {
  store: LocalVector;
  indexName: string;
  embedder: Embedder;
  question: string;
  folder: string;
}

/** Draws the part of the graph around a query. @returns the URL of the page */
export async function drawGraph({ store, indexName, embedder, question, folder }: PictureOptions): Promise<string> {
  const view = await viewGraph({ vectorStore: store, indexName, model: embedder, queryText: question });
  const file = join(folder, 'graph.html');
  await writeFile(file, await graphToHtml(view));
  return pathToFileURL(file).href;
}
