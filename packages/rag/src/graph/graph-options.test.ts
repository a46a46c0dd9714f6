import { expect, it } from 'vitest';
import { parseGraphOptions } from './graph-options.js';

it('treats a threshold below 0, which GraphRAG accepts, as 0', () => {
  expect(parseGraphOptions('buildGraph', { threshold: -0.5 })).toEqual(
    parseGraphOptions('buildGraph', { threshold: 0 }),
  );
  expect(parseGraphOptions('buildGraph', { threshold: 0.5 })).not.toEqual(
    parseGraphOptions('buildGraph', { threshold: 0 }),
  );
});
