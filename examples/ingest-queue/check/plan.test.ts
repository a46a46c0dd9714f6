import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLexicalEmbedder } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { finishPlan, makePlan, runPart, type Target } from '../src/plan.ts';

test('a plan stores what is new, removes what is gone, and ends only with all reports', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quiver-plan-'));
  const store = new LocalVector();
  const target: Target = { folder, vectorStore: store, indexName: 'notes', model: createLexicalEmbedder() };
  const run = async () => {
    const { plan, parts } = await makePlan(target, 2);
    // As a queue stores it, and each part twice, as after the death of a worker.
    const jobs = (JSON.parse(JSON.stringify(parts)) as typeof parts).flatMap((part) => [part, part]);
    const reports = [];
    for (const job of jobs) reports.push(await runPart(job, target));
    await assert.rejects(finishPlan(plan, reports.slice(2), target), /1 of \d parts have no report/);
    return finishPlan(plan, reports, target);
  };
  try {
    for (const name of ['a', 'b', 'c']) await writeFile(join(folder, `${name}.md`), `# ${name}\n\nText of ${name}.`);
    assert.deepEqual(await run(), { documents: 3, added: 0, moved: 0, unchanged: 3, removed: 0, missing: [] });
    await rm(join(folder, 'a.md'));
    await writeFile(join(folder, 'b.md'), Buffer.from([0, 1, 2, 3]));
    const { removed, missing } = await run();
    assert.deepEqual({ removed, missing }, { removed: 1, missing: ['b.md'] });
    const { records } = await store.listVectors({ indexName: 'notes', limit: 10 });
    assert.deepEqual(records.map(({ metadata }) => metadata['source']).toSorted(), ['b.md', 'c.md']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
