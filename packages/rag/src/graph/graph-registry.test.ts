import { expect, it } from 'vitest';
import { buildChunkGraph } from './build-chunk-graph.js';
import { evictUnused, type Held } from './graph-registry.js';
import { startSharedTask } from './shared-task.js';

async function holdGraph(nodes: number): Promise<Held> {
  const passages = Array.from({ length: nodes }, (_, n) => ({ id: String(n), document: '' }));
  const graph = await buildChunkGraph({ passages, vectors: new Float32Array(nodes), dimension: 1 });
  return { graph: { version: '1', graph }, checked: '1', task: undefined, isStored: false };
}

it('lets go of the graphs that were not used for longest, not of those being made', async () => {
  const graphs = new Map<string, Held>();
  for (const key of ['oldest', 'made', 'older', 'newer', 'newest']) graphs.set(key, await holdGraph(4));
  (graphs.get('made') as Held).task = startSharedTask(async () => {});
  evictUnused(graphs, 2 * 104);
  expect([...graphs.keys()]).toEqual(['made', 'newer', 'newest']);
  evictUnused(graphs, 3 * 104);
  expect(graphs.size).toBe(3);
});

it('holds the graph that was used last, however large, and few that are empty', async () => {
  const graphs = new Map([['large', await holdGraph(20)]]);
  evictUnused(graphs, 1);
  expect([...graphs.keys()]).toEqual(['large']);
  for (let tenant = 0; tenant < 30; tenant += 1) graphs.set(`empty${tenant}`, await holdGraph(0));
  evictUnused(graphs, 1000);
  expect(graphs.size).toBe(10);
});
