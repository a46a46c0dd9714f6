import { expect, it } from 'vitest';
import type { OpenIndex } from './pg-index.js';
import { searchSettings } from './search-settings.js';

const extension = { schema: 'public', scansOn: true, vectorOid: 1 };
const index: OpenIndex = {
  table: 'public.items',
  oid: 1,
  dimension: 2,
  metric: 'cosine',
  vectorType: 'vector',
  type: 'hnsw',
  config: {},
  extension,
};

it('sets nothing where the defaults of pgvector will do', () => {
  expect(searchSettings(index, {}, { hasFilter: false, wanted: 10 })).toEqual([]);
});

it('sets what was asked for, also when pgvector has the same default: the role may have another', () => {
  expect(searchSettings(index, { ef: 40 }, { hasFilter: false, wanted: 10 })).toEqual([['hnsw.ef_search', 40]]);
});

it('searches on where a filter or the number of results needs it', () => {
  const iterative = ['hnsw.iterative_scan', 'relaxed_order'];
  expect(searchSettings(index, {}, { hasFilter: true, wanted: 10 })).toEqual([iterative]);
  expect(searchSettings(index, {}, { hasFilter: false, wanted: 300 })).toEqual([['hnsw.ef_search', 1000], iterative]);
});
