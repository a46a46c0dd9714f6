import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Chunk } from '../chunk.js';
import { MDocument, type DocumentType } from '../document.js';
import type { ChunkParams } from './chunking-strategy.js';

/** The document on the page of a strategy in `docs/guides/chunking`, and how it is split there. */
interface Picture {
  readonly type: DocumentType;
  readonly source: string;
  readonly options: ChunkParams & { strategy: string };
}

const prose =
  'The harbour was quiet. Boats lay in two rows, and nobody spoke.\n\nAt noon Dr. Ames came down the steps. "Is it ready?" he asked. it was not.';

const pictures: readonly Picture[] = [
  { type: 'text', source: prose, options: { strategy: 'recursive', maxSize: 60, overlap: 12 } },
  {
    type: 'text',
    source: 'red, green, blue, a very long name of a colour, cyan',
    options: { strategy: 'character', separator: ', ', maxSize: 22, overlap: 0 },
  },
  { type: 'text', source: `${prose} 日本語の文です。👩‍👩‍👧‍👦`, options: { strategy: 'token', maxSize: 16, overlap: 3 } },
  {
    type: 'text',
    source: `${prose} これは文です。次の文です。`,
    options: { strategy: 'sentence', maxSize: 70, targetSize: 45 },
  },
  {
    type: 'markdown',
    source:
      '# Guide\n\n## Install\n\nRun `npm install`.\n\n### From source\n\n```sh\n# not a heading\nmake\n```\n\n## Use\n\n- Call it.\n- Call it again, with more words in one item.\n- Stop.\n',
    options: { strategy: 'markdown', maxSize: 60, overlap: 0 },
  },
  {
    type: 'markdown',
    source:
      '# Guide\n\nShort.\n\n## Install\n\nRun npm install.\n\n## Use\n\nCall it.\n\n# Reference\n\nEvery option has a default, and every default is written down here with its reason.\n',
    options: { strategy: 'semantic-markdown', joinThreshold: 25 },
  },
  {
    type: 'html',
    source:
      '<nav>Home</nav>\n<main><h1>Coats &amp; more</h1>\n<p>Warm <b>ones</b>.</p>\n<h2>Winter</h2>\n<ul><li>Below five<li>degrees</ul></main>\n',
    options: { strategy: 'html', maxSize: 60 },
  },
  {
    type: 'json',
    source:
      '{\n  "name": "Jos\\u00e9", "age": 3,\n  "tags": ["a", "b", "c"],\n  "note": "A long string is divided like any other prose."\n}\n',
    options: { strategy: 'json', maxSize: 30 },
  },
  {
    type: 'text',
    source:
      '\\section{Limits}\nWe begin.\n\n\\subsection{Proof}\n\\begin{proof}\nLet $x > 0$.\n\nDone.\n\\end{proof}\n% \\section{Not this one}\n\nA remark follows.\n',
    options: { strategy: 'latex', maxSize: 70, overlap: 0 },
  },
];

async function chunkPicture({ type, source, options }: Picture): Promise<Chunk[]> {
  return new MDocument({ text: source, type }).chunk(options);
}

/** The chunks one below the other, with their place and what is in their metadata. */
function drawChunks(chunks: readonly Chunk[]): string {
  let covered = 0;
  const lines = chunks.flatMap(({ text, metadata: { startIndex, endIndex, ...metadata } }, index) => {
    const repeated = index > 0 && startIndex < covered ? `, repeats ${covered - startIndex}` : '';
    covered = endIndex;
    const facts = Object.entries(metadata).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    return [
      `${index === 0 ? '┌' : '├'}── ${[`${startIndex} to ${endIndex}${repeated}`, ...facts].join(' · ')}`,
      ...text.split('\n').map((line) => `│ ${line}`.trimEnd()),
    ];
  });
  return [...lines, '└──'].join('\n');
}

test.each(pictures)('the page of $options.strategy shows what its example gives', async (picture) => {
  const page = await readFile(
    new URL(`../../../../../docs/guides/chunking/${picture.options.strategy}.md`, import.meta.url),
    'utf8',
  );
  expect(page).toContain(picture.source.trimEnd());
  expect(page).toContain(drawChunks(await chunkPicture(picture)));
});
