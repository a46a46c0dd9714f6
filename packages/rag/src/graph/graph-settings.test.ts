import { expect, it } from 'vitest';
import { parseGraphOptions, scopeKey } from './graph-settings.js';

it('takes every threshold that GraphRAG takes: those below 0 are as 0', () => {
  const keyOf = (threshold: number): string => {
    const { edges } = parseGraphOptions({ threshold });
    return scopeKey({ indexName: 'docs', filter: undefined, edges });
  };
  expect(keyOf(-0.5)).toBe(keyOf(0));
  expect(keyOf(0.5)).not.toBe(keyOf(0));
});
