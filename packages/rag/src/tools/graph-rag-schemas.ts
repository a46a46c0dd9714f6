import type { JsonSchema } from '@quiver/core/schema';
import { passagesSchema } from './vector-query-schemas.js';

const path: JsonSchema = {
  type: 'array',
  description:
    'The steps that led here from a passage that matches the question; empty when it matches the question itself.',
  items: {
    type: 'object',
    properties: {
      from: { type: 'string' },
      to: { type: 'string' },
      kind: { type: 'string' },
      reason: { type: 'string' },
      weight: { type: 'number' },
    },
    required: ['from', 'to', 'kind', 'reason', 'weight'],
  },
};

const graph: JsonSchema = {
  type: 'object',
  description: 'What the answer was found in.',
  properties: {
    complete: {
      type: 'boolean',
      description:
        'Whether the whole index was connected; otherwise only what surrounds the passages that match the question.',
    },
    nodes: { type: 'integer' },
    edges: { type: 'integer' },
    seeds: { type: 'string', enum: ['vector', 'keyword', 'hybrid'] },
  },
  required: ['complete', 'nodes', 'edges', 'seeds'],
};

export const graphRAGOutputSchema: JsonSchema = passagesSchema({ path }, { graph });
