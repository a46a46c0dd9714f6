import { expect, it } from 'vitest';
import { buildChunkGraph } from '../graph/build-chunk-graph.js';
import { letGoOfUnused, type Held } from './graph-registry.js';
import { startSharedTask } from './shared-task.js';

async function holdGraph(nodes: number): Promise<Held> {
  const passages = Array.from({ length: nodes }, (_, n) => ({ id: String(n), document: '' }));
  const graph = await buildChunkGraph({ passages, vectors: new Float32Array(nodes), dimension: 1 });
  return { graph: { version: '1', graph }, checked: '1', task: undefined };
}

it('lets go of the graphs that were not used for longest, not of those being made', async () => {
  const graphs = new Map<string, Held>();
  for (const key of ['oldest', 'made', 'older', 'newer', 'newest']) graphs.set(key, await holdGraph(4));
  (graphs.get('made') as Held).task = startSharedTask(async () => {});
  letGoOfUnused(graphs, 9);
  expect([...graphs.keys()]).toEqual(['made', 'newer', 'newest']);
  letGoOfUnused(graphs, 100);
  expect(graphs.size).toBe(3);
});
