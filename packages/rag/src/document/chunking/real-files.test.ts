import { glob, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HtmlRenderer, Parser } from 'commonmark';
import { parse } from 'parse5';
import { beforeAll, describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';
import type { ChunkParams } from './chunking-strategy.js';
import { referenceText } from './reference-text.fixture.js';

const repository = fileURLToPath(new URL('../../../../../', import.meta.url));
const readme = '{README.md,CHANGELOG.md,package.json}';
const packages = ['fast-check', 'zod', 'htmlparser2', 'parse5', 'commonmark', 'gpt-tokenizer'];

/** Our documents and sources, and the READMEs of packages that we use: written by many people, for other purposes. */
const files: MDocument[] = [];

beforeAll(async () => {
  const patterns = ['docs/**/*.md', 'packages/rag/src/document/**/*.ts'].concat(
    packages.map((name) => `packages/rag/node_modules/${name}/${readme}`),
  );
  const exclude = (path: string): boolean =>
    /^docs\/(node_modules|reference\/api)|^packages\/rag\/src\/node_modules/.test(path);
  for await (const path of glob(patterns, { cwd: repository, exclude })) {
    const text = await readFile(join(repository, path), 'utf8');
    const language = extname(path) === '.ts' ? { language: 'ts' as const } : {};
    const type = ({ '.md': 'markdown', '.json': 'json' } as const)[extname(path)] ?? 'text';
    files.push(new MDocument({ docs: [{ text, metadata: { source: path } }], type, ...language }));
  }
});

const textOf = (document: MDocument): string => document.sources[0]?.text ?? '';
const bare = (text: string): string => text.replace(/\s/g, '');
/** Without the marks and the targets of links of Markdown. */
const lettersOf = (text: string): string => text.replace(/\]\([^)\s]*\)/g, '').replace(/[^\p{L}]/gu, '');

const verbatim: ChunkParams[] = [
  { strategy: 'recursive', maxSize: 512, overlap: 0 },
  { strategy: 'recursive', maxSize: 300, overlap: 0, language: 'ts' },
  { strategy: 'character', maxSize: 512, overlap: 0, separator: '\n' },
  { strategy: 'sentence', maxSize: 512 },
  { strategy: 'token', maxSize: 128, overlap: 0 },
  { strategy: 'markdown', maxSize: 512, overlap: 0 },
  { strategy: 'semantic-markdown', maxSize: 300, overlap: 0 },
  { strategy: 'latex', maxSize: 512, overlap: 0 },
];

describe('real files', () => {
  test('are many, of several kinds', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(new Set(files.map(({ type, language }) => language ?? type))).toEqual(new Set(['markdown', 'ts', 'json']));
  });

  test.each(verbatim)('lose nothing and keep their places: %o', async (params) => {
    for (const document of files) {
      const source = textOf(document);
      const chunks = await document.chunk(params);
      expect(bare(chunks.map(({ text }) => text).join(''))).toBe(bare(source));
      for (const { text, metadata } of chunks) {
        expect(text).toBe(source.slice(metadata.startIndex, metadata.endIndex));
        expect(text.length <= 512 || metadata['tokenCount'] !== undefined).toBe(true);
      }
    }
  });

  test('keep all text as web pages', async () => {
    const render = new HtmlRenderer();
    for (const document of files.filter(({ type }) => type === 'markdown')) {
      // Pictures have no text in a browser, and their description in Markdown.
      const page = render.render(new Parser().parse(textOf(document))).replace(/<img[^>]*>/g, '');
      const read = MDocument.fromHTML(page);
      const chunks = await read.chunk({ maxSize: 512, overlap: 0 });
      const skipped = Object.values(read.skippedText).reduce((sum, count) => sum + count, 0);
      expect(lettersOf(read.sources[0]?.text ?? '')).toBe(lettersOf(referenceText(parse(page))));
      expect(chunks.reduce((sum, { text }) => sum + text.length, skipped)).toBeGreaterThan(0.9 * textOf(read).length);
    }
  });

  test('keep all values as JSON', async () => {
    const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    const manifest = JSON.parse(text) as Record<string, unknown>;
    const found = new Set(
      (await MDocument.fromJSON(text).chunk({ maxSize: 200 })).map(
        ({ metadata }) => (metadata['pointer'] as string).split('/')[1],
      ),
    );
    expect([...found].every((key) => key !== undefined && key in manifest)).toBe(true);
    expect(found).toContain('exports');
  });
});

test.each([
  ['Japanese', '', ['吾輩は猫である。', '名前はまだ無い。', 'どこで生れたかとんと見当がつかぬ。']],
  ['Chinese', '', ['学而时习之，不亦说乎？', '有朋自远方来，不亦乐乎？', '人不知而不愠，不亦君子乎？']],
  ['Russian', ' ', ['Все счастливые семьи похожи друг на друга.', 'Всё смешалось в доме.']],
  [
    'German',
    ' ',
    ['Jemand musste Josef K. verleumdet haben.', 'Ohne dass er etwas Böses getan hätte, wurde er verhaftet.'],
  ],
  ['Korean', ' ', ['모든 사람은 태어날 때부터 자유롭다.', '그리고 존엄과 권리에 있어 동등하다.']],
  ['Arabic', ' ', ['يولد جميع الناس أحراراً متساوين.', 'هل هذا صحيح؟', 'نعم.']],
])('chunks of books in %s end with sentences', async (_, space, sentences) => {
  const book = sentences.concat(sentences, sentences, sentences).join(space);
  const longest = Math.max(...sentences.map(({ length }) => length));
  const chunks = await MDocument.fromText(book).chunk({ strategy: 'sentence', maxSize: longest });
  const ends = new Set(chunks.map(({ text }) => sentences.find((sentence) => text.endsWith(sentence))));
  expect(ends).not.toContain(undefined);
  expect(chunks.length).toBeGreaterThan(4);
});
