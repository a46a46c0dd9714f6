import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { FixedPointRows } from '../simd/fixed-point-rows.js';
import { buildChunkGraph, type BuildChunkGraphOptions, updateChunkGraph } from './build-chunk-graph.js';
import type { ChunkGraph } from './chunk-graph.js';
import type { GraphPassage } from './passage.js';

const flat = (vectors: readonly (readonly number[])[]): Float32Array => Float32Array.from(vectors.flat());

/** Without similarity: vectors without direction. */
function buildFrom(
  passages: readonly GraphPassage[],
  options: Partial<BuildChunkGraphOptions> = {},
): Promise<ChunkGraph> {
  return buildChunkGraph({ passages, vectors: new Float32Array(passages.length), dimension: 1, ...options });
}

const edgesOf = (graph: ChunkGraph, kind: string): string[] =>
  [...graph.edges()].filter((edge) => edge.kind === kind).map(({ from, to, reason }) => `${from} - ${to}: ${reason}`);

describe('buildChunkGraph', () => {
  it('connects passages that are like each other', async () => {
    const passages = ['c', 'a', 'b'].map((id) => ({ id, document: id }));
    const vectors = flat([
      [0, 3],
      [1, 0.1],
      [2, 0],
    ]);
    const graph = await buildChunkGraph({ passages, vectors, dimension: 2 });
    expect(graph.ids).toEqual(['a', 'b', 'c']);
    expect([...graph.edges()]).toEqual([
      { from: 'a', to: 'b', kind: 'similarity', weight: 0.995, reason: 'cosine similarity 0.99' },
    ]);
  });

  it('connects passages that share rare names or mention a title', async () => {
    const graph = await buildFrom([
      { id: 'film', title: 'Ed Wood (film)', document: 'It was directed by Tim Burton.' },
      { id: 'man', title: 'Edward Wood', document: 'The life was told in Ed Wood.' },
      { id: 'director', document: 'tim burton is American; Tim Burton lives.' },
      { id: 'other', document: 'no names here' },
    ]);
    expect(edgesOf(graph, 'phrase')).toEqual([
      'director - film: both name “tim burton”',
      'film - man: both name “ed wood”',
    ]);
    const [first] = graph.neighbors('director');
    expect(first?.weight).toBeCloseTo(Math.log(5 / 2) / Math.log(5) / 2, 12);
  });

  it('ignores ordinary words that begin a heading, a list item or a table cell', async () => {
    const graph = await buildFrom([
      { id: '1', document: '## Loading\n\n- Quorum\n- Changed files' },
      { id: '2', document: '| Loading | Quorum |\n* Changed' },
      { id: '3', document: 'loading of changed files' },
    ]);
    expect(edgesOf(graph, 'phrase')).toEqual(['1 - 2: both name “quorum”']);
  });

  it('ends names at the end of a sentence, but not after initials and short abbreviations', async () => {
    const graph = await buildFrom([
      { id: 'film', document: 'It was directed by Leo Fong. It stars nobody.' },
      { id: 'other', document: 'Another film of Leo Fong. Goldy Notay plays in it.' },
      { id: 'rogell', document: 'a film by Albert S. Rogell. The end.' },
      { id: 'rogell too', document: 'Albert S. Rogell made it.' },
      { id: 'albert', document: 'so said Albert S. and left' },
    ]);
    expect(edgesOf(graph, 'phrase')).toEqual([
      'film - other: both name “leo fong”',
      'rogell - rogell too: both name “albert s. rogell”',
    ]);
  });

  it('finds titles within longer names and genitives, but not within other titles', async () => {
    const graph = await buildFrom([
      { id: 'king', title: 'Min Dikkha', document: 'a ruler' },
      { id: 'palace', document: 'it is Min Dikkha’s palace' },
      { id: 'queen', document: 'the chief queen of King Min Dikkha of Arakan' },
      { id: 'ship', title: 'HMS Min Dikkha', document: 'a ship' },
    ]);
    expect(edgesOf(graph, 'phrase')).toEqual([
      'king - palace: both name “min dikkha”',
      'king - queen: both name “min dikkha”',
      'palace - queen: both name “min dikkha”',
    ]);
  });

  it('ignores names that many passages share', async () => {
    const passages = Array.from({ length: 20 }, (_, n) => ({
      id: String(n),
      document: n < 13 ? 'Everywhere' : 'Rare',
    }));
    const edges = edgesOf(await buildFrom(passages), 'phrase');
    expect(edges).toHaveLength((7 * 6) / 2);
    expect(edgesOf(await buildFrom(passages, { edges: { phrases: { maxPassages: 13 } } }), 'phrase')).toHaveLength(
      21 + (13 * 12) / 2,
    );
  });

  it('lets the first passage of a document stand for its title', async () => {
    const parts = [1, 2, 3].map((position) => ({
      id: `guide-${position}`,
      title: 'Quorum Guide',
      source: 'guide.md',
      position,
      document: 'text',
    }));
    const graph = await buildFrom([...parts, { id: 'faq', document: 'see the Quorum Guide' }]);
    expect(edgesOf(graph, 'phrase')).toEqual(['faq - guide-1: both name “quorum guide”']);
  });

  it('connects neighbors in a source', async () => {
    const at = (source: string, position?: number): GraphPassage => ({
      id: `${source}${position}`,
      source,
      position,
      document: '',
    });
    const graph = await buildFrom([at('a', 30), at('a', 4), at('b', 1), at('a', 100), at('b')]);
    expect(edgesOf(graph, 'sequence')).toEqual([
      'a4 - a30: next to each other in a',
      'a30 - a100: next to each other in a',
    ]);
  });

  it('connects documents that link to each other', async () => {
    const page = (source: string, document: string): GraphPassage => ({ id: source, source, document });
    const graph = await buildFrom([
      page('docs/a.md', '[b](b.md#top) and [again](./b.md "B") and [self](a.md) and [out](https://example.com/x)'),
      page('docs/b.md', 'see [c][ref]\n\n[ref]: ../c%20d.html?x=1'),
      page('c d.html', '<a class="x" href=\'/docs/a.md\'>a</a> <a href=https://example.com/y>y</a>'),
      page('https://example.com/x', '[y](y) [broken](http://[) ![image](b.md)'),
      page('https://example.com/y', 'nothing'),
    ]);
    expect(edgesOf(graph, 'link').toSorted()).toEqual([
      'c d.html - docs/a.md: c d.html links to docs/a.md',
      'c d.html - https://example.com/y: c d.html links to https://example.com/y',
      'docs/a.md - docs/b.md: docs/a.md links to docs/b.md',
      'docs/a.md - https://example.com/x: docs/a.md links to https://example.com/x',
      'docs/b.md - c d.html: docs/b.md links to c d.html',
      'https://example.com/x - https://example.com/y: https://example.com/x links to https://example.com/y',
    ]);
  });

  it('compares sources as what they are: names of files letter by letter, URLs as URLs', async () => {
    const page = (source: string, document = ''): GraphPassage => ({ id: source, source, document });
    const graph = await buildFrom([
      page('C#.md'),
      page('100%.md'),
      page('https://example.com/a%20b'),
      page('https://example.com/', '[b](a%20b)'),
      page('\uD800 http://[', '[x](C#.md)'),
      page('index.md', '[c](C%23.md) [d](100%25.md) [e](https://example.com/a%20b?x#y)'),
    ]);
    expect(graph.neighbors('index.md').map(({ to }) => to)).toEqual(['C#.md', '100%.md', 'https://example.com/a%20b']);
    expect(graph.neighbors('https://example.com/').map(({ to }) => to)).toEqual(['https://example.com/a%20b']);
  });

  it.each(['<a ', '](x "', 'A \t', '[a', '](', 'A of the ', 'A  ', '[a]:\n', 'A.', '(', ' (A)'])(
    'reads texts made to take long: %j',
    async (part) => {
      const long = part.repeat(50_000);
      const drawn = `${part}${(part.at(-1) as string).repeat(50_000)}x`;
      const graph = await buildFrom([
        { id: 'a', source: 'a', title: long, document: `${long} ${drawn}` },
        { id: 'b', source: 'b', document: '' },
      ]);
      expect(graph.edgeCount).toBe(0);
    },
  );

  it('connects passages as their metadata says', async () => {
    const graph = await buildFrom([
      { id: 'p', title: 'Peter', document: '', metadata: { relations: [{ type: 'manages', target: 'a' }, 7, null] } },
      { id: 'a', title: 'Anna', document: '', metadata: { relations: ['wrote: plan.md', 'wrote:gone', 'x'] } },
      { id: 'plan', source: 'plan.md', document: '', metadata: { relations: 'not a list' } },
    ]);
    expect(edgesOf(graph, 'relation')).toEqual(['a - plan: Anna wrote plan', 'p - a: Peter manages Anna']);
  });

  it('connects passages whose triples speak of the same thing', async () => {
    const graph = await buildFrom([
      { id: '1', document: '', triples: [{ subject: 'Tim  Burton', predicate: 'directed', object: 'Ed Wood' }] },
      { id: '2', document: '', triples: [{ subject: 'Johnny Depp', predicate: 'played', object: 'ed wood' }] },
      { id: '3', document: '' },
    ]);
    expect(edgesOf(graph, 'triple')).toEqual(['1 - 2: both speak of “ed wood”']);
  });

  it('makes no edges of kinds that are switched off', async () => {
    const passages = [1, 2].map((position) => ({ id: `${position}`, source: 's', position, document: 'Quorum' }));
    const edges = { similarity: false, phrases: false, sequence: false };
    const graph = await buildChunkGraph({ passages, vectors: flat([[1], [1]]), dimension: 1, edges });
    expect(graph.edgeCount).toBe(0);
  });

  it.each<[string, Partial<BuildChunkGraphOptions>, string]>([
    [
      'two passages of one id',
      {
        passages: [
          { id: 'x', document: '' },
          { id: 'x', document: '' },
        ],
      },
      "have the id 'x'",
    ],
    ['missing vectors', { vectors: new Float32Array(1) }, 'need 2 numbers, not 1'],
    ['vectors that are a list', { vectors: [0, 1] as never }, "'vectors' must be a Float32Array"],
    ['a vector that holds no number', { vectors: Float32Array.of(0, Number.NaN) }, "passage 'b' holds NaN"],
    ['a dimension of 0', { dimension: 0 }, "'dimension' must be an integer of at least 1"],
    ['no neighbors', { edges: { similarity: { neighbors: 0 } } }, 'edges.similarity.neighbors'],
    ['a threshold that is no cosine', { edges: { similarity: { threshold: 2 } } }, 'edges.similarity.threshold'],
    ['a negative weight', { edges: { links: { weight: -1 } } }, 'edges.links.weight'],
  ])('refuses %s', async (_what, options, message) => {
    const passages = [
      { id: 'a', document: '' },
      { id: 'b', document: '' },
    ];
    await expectError(buildFrom(passages, { vectors: new Float32Array(2), ...options }), 'OPTIONS_INVALID', message);
  });

  it('tells how far it is, lets other work run, and ends when asked to', async () => {
    const passages = Array.from({ length: 2000 }, (_, n) => ({ id: String(n), document: '' }));
    const vectors = Float32Array.from({ length: 2000 * 400 }, (_, n) => Math.sin(n * n));
    const progress: number[] = [];
    let turns = 0;
    const timer = setInterval(() => (turns += 1));
    await buildChunkGraph({ passages, vectors, dimension: 400, onProgress: ({ done }) => progress.push(done) });
    clearInterval(timer);
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
    expect(turns).toBeGreaterThan(1);
    const controller = new AbortController();
    const building = buildChunkGraph({
      passages,
      vectors,
      dimension: 400,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    });
    await expect(building).rejects.toThrow('enough');
  });
});

describe('a graph of changed passages', () => {
  it('does not repeat the search for what did not change', async () => {
    const count = 400;
    const passages = Array.from({ length: count }, (_, n) => ({ id: String(n).padStart(4, '0'), document: '' }));
    const vectors = Float32Array.from({ length: count * 8 }, (_, n) => Math.sin(n * n));
    const edges = { similarity: { threshold: 0, neighbors: 4 } };
    const multiply = vi.spyOn(FixedPointRows.prototype, 'multiply');
    const compared = (): number => {
      const pairs = multiply.mock.calls.reduce((sum, [, aRows, , bRows]) => sum + aRows * bRows, 0);
      multiply.mockClear();
      return pairs;
    };
    const previous = await buildChunkGraph({ passages, vectors, dimension: 8, edges });
    const all = compared();
    const options = { passages: passages.slice(3), vectors: vectors.slice(3 * 8), dimension: 8, edges };
    const updated = await updateChunkGraph(options, previous);
    expect(compared()).toBeLessThan(all / 4);
    multiply.mockRestore();
    expect(updated.data).toEqual((await buildChunkGraph(options)).data);
  });
});

describe('the same passages', () => {
  it('give the same graph and ranking in another process', async () => {
    const program = new URL('print-graph.fixture.ts', import.meta.url);
    const run = async (): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--conditions=@quiver/source',
        '--import',
        new URL('../../../../scripts/source-hooks.mjs', import.meta.url).href,
        fileURLToPath(program),
      ]);
      return stdout;
    };
    const [first, second] = await Promise.all([run(), run()]);
    expect(first).toContain('["p3",1]');
    expect(second).toBe(first);
  });
});
