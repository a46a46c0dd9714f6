import { createLexicalEmbedder } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { describe, expect, it } from 'vitest';
import { readPublicFunctions } from '../../../scripts/public-functions.ts';
import { evaluationToHtml, generateCases, tune } from './evaluate/index.js';
import { viewGraph } from './graph/index.js';
import { describeSharedStore } from './stores/index.js';
import { conformance, createCassette, createTestClient, evaluateTools, lintTools } from './testing/index.js';
import { compareToolTypes, toolTypes } from './tool-types/index.js';

/** Adds an option, as programs in JavaScript can. */
const withUnknown = (options: object): never => ({ unknownOption: 1, ...options }) as never;
const unknown = withUnknown({});
const index = { vectorStore: new LocalVector(), indexName: 'x', model: createLexicalEmbedder() };

/** A call of each public function with an option that it does not have. */
const calls: Record<string, () => unknown> = {
  createTestClient: () => createTestClient({ url: 'http://localhost:1' }, unknown),
  conformance: () => conformance('http://localhost:1', unknown),
  createCassette: () => createCassette(withUnknown({ file: 'x' })),
  evaluateTools: () => evaluateTools(withUnknown({ tools: {}, cases: [], model: 'openai/x' })),
  lintTools: () => lintTools([], unknown),
  toolTypes: () => toolTypes({}, unknown),
  compareToolTypes: () => compareToolTypes('', {}, unknown),
  describeSharedStore: () => describeSharedStore(unknown),
  viewGraph: () => viewGraph(withUnknown({ ...index, query: 'x' })),
  tune: () => tune(unknown),
  generateCases: () => generateCases(unknown),
  evaluationToHtml: () => evaluationToHtml({} as never, unknown),
};

/** Functions whose calls accept any option, each with the reason. */
const exempt: Record<string, string> = {
  describeEras: 'defines tests',
  describeFilters: 'defines tests',
  describeVectorStore: 'defines tests',
  expectMcp: 'takes a client or a call',
  graphToHtml: 'takes a view',
};

describe('options of the public functions', () => {
  it('are checked by each function, or the function is listed as exempt', async () => {
    const functions = await readPublicFunctions('@quiver/devtools', (entry) => import(entry));
    const missing = functions.filter((name) => !(name in calls || name in exempt));
    const removed = Object.keys(exempt).filter((name) => !functions.includes(name));
    expect({ missing, removed }).toEqual({ missing: [], removed: [] });
  });

  it.each(Object.entries(calls))('of %s are rejected if they are unknown', async (name, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID' });
    expect((error as Error).message).toMatch(
      new RegExp(`^${name} has no option 'unknownOption'\\. Its options are: \\w+`),
    );
  });
});
