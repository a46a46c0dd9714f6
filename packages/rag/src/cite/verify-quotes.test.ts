import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { MDocument } from '../document/document.js';
import { findQuotes } from './find-quotes.js';
import { verifyQuotes, type QuoteSource } from './verify-quotes.js';

const text =
  'The lock file names its owner. A stale lock is taken over after\nthirty\u00a0seconds — not before. It’s “safe” to delete\nold snapshots first.';
const sources: QuoteSource[] = [
  { id: 'disk', document: 'E2042: the disk is full. Delete old snapshots first.', metadata: { source: 'disk.md' } },
  { id: 'lock', document: text, metadata: { source: 'lock.md', startIndex: 100, endIndex: 100 + text.length } },
];
const quoted = (answer: string): string[] => findQuotes(answer).quotes.map((quote) => quote.text);

describe('verifyQuotes', () => {
  it('reports the exact place of a quote in its source and in the whole document', () => {
    const answer = 'The manual says “The lock file names its owner.” and "E2042: the disk is full", I think.';
    const { found, missing } = verifyQuotes(answer, sources);
    expect(missing).toEqual([]);
    expect(found).toEqual([
      {
        text: 'The lock file names its owner.',
        start: 17,
        end: 47,
        places: [{ id: 'lock', source: 'lock.md', start: 0, end: 30, startIndex: 100, endIndex: 130 }],
      },
      expect.objectContaining({ places: [{ id: 'disk', source: 'disk.md', start: 0, end: 23 }] }),
    ]);
    expect(answer.slice(found[0]?.start, found[0]?.end)).toBe(found[0]?.text);
  });

  it.each([
    ['“The lock file names its owner” [2].', [2]],
    ['“The lock file names its owner.”[1][2]', [1, 2]],
    ['"The lock file names its owner" (see below). **“The lock file names its owner”** [1, 2]', undefined],
    ['> The lock file names its owner.\n> A stale lock is taken over [2]', [2]],
    ['> The lock file names its owner.\n\n— [1–2]', [1, 2]],
    ['“The lock file names its owner” [2](https://example.com)', undefined],
    ['“The lock file names its owner” `[1]`', undefined],
  ])('reads the citation behind a quote: %s', (answer, cited) => {
    const { found, missing } = verifyQuotes(answer, sources);
    expect(missing).toEqual([]);
    expect(found[0]).toMatchObject({ places: [{ id: 'lock' }] });
    expect(found[0]?.cited).toEqual(cited);
  });

  it('reports a quote that is not in the source that it cites as missing, with the places where it is', () => {
    const answer = '“The lock file names its owner” [1] and “the disk is full” [1], “the disk is full” [3].';
    const { found, missing, citations } = verifyQuotes(answer, sources);
    expect(found).toMatchObject([{ text: 'the disk is full', cited: [1] }]);
    expect(missing).toMatchObject([
      { text: 'The lock file names its owner', cited: [1], places: [{ id: 'lock' }] },
      { text: 'the disk is full', cited: [3], places: [{ id: 'disk' }] },
    ]);
    expect(citations.map(({ number, id, start, end }) => [number, id, answer.slice(start, end)])).toEqual([
      [1, 'disk', '[1]'],
      [1, 'disk', '[1]'],
      [3, undefined, '[3]'],
    ]);
  });

  it('finds the cited source behind more places than it reports', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
      id: `${index}`,
      document: 'the disk is full. '.repeat(5),
    }));
    const { found } = verifyQuotes('“the disk is full” [30] and “the disk is full”', many, { maxPlaces: 3 });
    expect(found.map(({ places }) => places.map(({ id }) => id))).toEqual([['29'], ['0', '0', '0']]);
  });

  it('reads hostile brackets in linear time', () => {
    const answer = `${'[1'.repeat(50_000)} ${'[1, '.repeat(50_000)} ${'“a” [1]'.repeat(10_000)} ${'> [1]'.repeat(10_000)}`;
    expect(verifyQuotes(answer, sources).citations.length).toBeGreaterThan(10_000);
  });

  it('reports what is not there, down to one character', () => {
    const answer = '"The lock file names its owners" or “the lock file names its owner” or "E2042: the disk is full."';
    const { found, missing } = verifyQuotes(answer, sources);
    expect(missing.map((quote) => quote.text)).toEqual([
      'The lock file names its owners',
      'the lock file names its owner',
    ]);
    expect(found).toHaveLength(1);
  });

  it.each([
    ['other white space', '"A stale lock is\n  taken over after thirty seconds"'],
    ['other hyphens', '"thirty seconds -- not before"'],
    ['other quotation marks and apostrophes', `„It's "safe" to delete old snapshots“`],
    ['a comma of the answer', '“The lock file names its owner,”'],
    ['soft hyphens', '«The lock\u00ad file names its ow\u00adner»'],
    ['a block quote', '> The lock file names its owner. A stale\n> lock is taken over\n\n'],
    ['a block quote in quotation marks', '> “The lock file names its owner.”'],
  ])('tolerates %s', (_what, answer) => {
    expect(verifyQuotes(answer, sources)).toMatchObject({
      found: [{ places: [{ id: 'lock' }] }],
      missing: [],
      unreadable: [],
    });
  });

  it.each([
    [
      'an ellipsis',
      '"The lock file … is taken over after […] thirty seconds..."',
      ['names its owner. A stale lock', ''],
    ],
    ['dots with spaces', '"The lock file names . . . stale lock"', ['its owner. A']],
  ])('tolerates %s if it may, and returns the omitted text', (_what, answer, omitted) => {
    expect(verifyQuotes(answer, sources)).toMatchObject({ found: [], missing: [{}] });
    const { found, missing } = verifyQuotes(answer, sources, { ellipsis: 'allow' });
    expect([found[0]?.places[0]?.id, found[0]?.places[0]?.omitted, missing]).toEqual(['lock', omitted, []]);
  });

  it.each(['Wait … it is loading ... now.', 'Wait [...] it is loading. . . now.', 'Wait\n… it is loading\u2026 now.'])(
    'finds an ellipsis that is in the source: %j',
    (document) => {
      const { found, missing } = verifyQuotes('“Wait… it is loading... now.”', [{ id: 'a', document }]);
      expect([found[0]?.places, missing]).toEqual([[{ id: 'a', start: 0, end: document.length }], []]);
    },
  );

  const rendered =
    'Run `npm ci` in every pipeline, see the [guide *1*](https://x.example/a) first.\n\nBefore you begin:\n\n- Half days are possible.\n- Unused days expire in March.\n\n| AllowOverride | All\\|None\\|type |';

  it.each([
    ['code', '“Run npm ci in every pipeline”', 0, 'Run `npm ci` in every pipeline'],
    ['a link', '“see the guide *1* first.”', 0, 'see the [guide *1*](https://x.example/a) first.'],
    ['code that it keeps, and a link', '“Run `npm ci` in every pipeline, see the guide *1* first”', 0, undefined],
    ['list items', '“Half days are possible. Unused days expire in March.”', 0, undefined],
    ['escapes, in a cited source', '“All|None|type” [1]', 0, 'All\\|None\\|type'],
    ['an address that differs', '“see the [guide *1*](https://evil.example/) first.”', 1, undefined],
    ['another word', '“Run npm in every pipeline”', 1, undefined],
  ])('compares quotes without Markdown marks of the source: %s', (_what, answer, count, place) => {
    const source = [{ id: 'a', document: rendered }];
    const options = { minLength: 10 };
    const { found, missing } = verifyQuotes(answer, source, options);
    expect(missing).toHaveLength(count);
    const { start, end } = found[0]?.places[0] ?? {};
    if (place !== undefined) expect(rendered.slice(start, end)).toBe(place);
    expect(verifyQuotes(answer, source, { ...options, strict: true }).found).toEqual([]);
  });

  it.each([
    'The version was\n12. It fell.',
    'It rose to\n- 5 degrees.',
    'Use `a[0](x) and \\d',
    'A lone [bracket and ] here',
  ])('leaves out no number, sign or bracket of a paragraph: %j', (document) => {
    const bare = document.replaceAll(/\n(?:12\.|-)|[`[\]]|\\/g, '').replaceAll(/\s+/g, ' ');
    expect(verifyQuotes(`“${bare}”`, [{ id: 'a', document }], { minLength: 8 }).found).toEqual([]);
  });

  const steps =
    '# Locks\n\nStop the server first.\n\n1. Delete the old lock file.\n2. Start the server again.\n\n> Never delete both files.';

  it.each([
    ['two paragraphs', '“Stop the server first.\n\nDelete the old lock file.”'],
    ['list items without their markers', '"Delete the old lock file.\n\nStart the server again."'],
    ['list items with other markers', '“Delete the old lock file.\n- Start the server again.”'],
    ['list items in a block quote', '> - Delete the old lock file.\n> - Start the server again.'],
    ['a list item and a block quote', '"Start the server again.\n\nNever delete both files."'],
    ['paragraphs that each begin with a mark', '“Stop the server first.\n\n“Delete the old lock file.”'],
  ])('finds a quote over %s', (_what, answer) => {
    const { found, missing, unreadable } = verifyQuotes(answer, [{ id: 'a', document: steps }]);
    expect([missing, unreadable]).toEqual([[], []]);
    for (const { places } of found) expect(places).toHaveLength(1);
    const place = found.at(-1)?.places[0];
    expect(steps.slice(place?.start, place?.end)).toMatch(/(?:file|again|files)\.$/);
  });

  it.each([
    ['two invented paragraphs', '“The company will refund\n\nall customers in full.”'],
    ['two invented paragraphs in straight marks', '"The company will refund\n\nall customers in full."'],
    ['an invented paragraph', '“Stop the server first.\n\nDelete all the files.”'],
    ['an invented paragraph that begins with a mark', '“Delete all the files.\n\n“Stop the server first.”'],
    ['an invented list item', '"Delete the old lock file.\n2. Delete the data."'],
    ['a paragraph left out', '"Stop the server first.\n\nStart the server again."'],
  ])('does not find a quote over %s', (_what, answer) => {
    expect(verifyQuotes(answer, [{ id: 'a', document: steps }])).toMatchObject({ missing: [{}], unreadable: [] });
  });

  it('leaves out no number of a sentence where a quote begins a paragraph', () => {
    const document = 'It was the version of 12. It fell.';
    expect(verifyQuotes('“It was the version of\n\nIt fell.”', [{ id: 'a', document }]).missing).toHaveLength(1);
  });

  it.each([
    [
      'is never closed',
      '“The company will refund all customers.',
      'unclosed',
      'The company will refund all customers.',
    ],
    ['is closed after another one', '"The company\n\nwill "refund all customers".', 'unclosed', 'The company'],
    [
      'was never opened',
      'The company will refund all customers.”',
      'unopened',
      'The company will refund all customers.',
    ],
    ['follows a letter', 'It says"The company will refund all', 'unopened', 'It says'],
    [
      'overlaps another one',
      '“The lock file «names its owner.” It will refund» all.',
      'overlapping',
      'names its owner.” It will refund',
    ],
    ['stands alone', 'The company " will refund all customers.', 'unclosed', 'will refund all customers.'],
  ])('reports a quotation mark that %s', (_what, answer, reason, text) => {
    const { unreadable } = verifyQuotes(answer, sources);
    expect(unreadable).toEqual([
      { text, reason, start: answer.indexOf(text), end: answer.indexOf(text) + text.length },
    ]);
  });

  it.each([
    ['inches', 'A 5" disk and a 10" disk.'],
    ['a mark inside a quote', '“The lock file names "its owner.” ok'],
    ['marks in code', 'Run `echo "a` and `b"`.\n```\nconst x = "open;\n```'],
    ['spaces inside the marks', 'It says: " The lock file names its owner. " and « The lock file names its owner. »'],
  ])('reports nothing for %s', (_what, answer) => {
    expect(verifyQuotes(answer, sources).unreadable).toEqual([]);
  });

  it('reads marks with spaces inside', () => {
    expect(verifyQuotes('It says: " The company will refund all "', sources).missing).toMatchObject([
      { text: 'The company will refund all' },
    ]);
  });

  it.each([
    ['composed', 'décomposé', 'NFC', 'NFD'],
    ['decomposed', 'décomposé', 'NFD', 'NFC'],
    ['Vietnamese', 'tiếng Việt', 'NFC', 'NFD'],
    ['Korean', '한국어 문서', 'NFC', 'NFD'],
  ])('compares letters with marks in any form, with the places of the source: %s', (_what, words, quoteForm, form) => {
    const document = `Un texte ${words} et la suite, écrite le même jour.`.normalize(form);
    const place = { start: 'Un texte '.length, end: document.indexOf(' et la suite') };
    const { found, missing } = verifyQuotes(`“${words.normalize(quoteForm)}”`, [{ id: 'a', document }], {
      minLength: 3,
    });
    expect([found[0]?.places, missing]).toEqual([[{ id: 'a', ...place }], []]);
  });

  it('reads any number of quotes in a paragraph', () => {
    expect(verifyQuotes('“a”'.repeat(200_000), sources)).toEqual({
      found: [],
      missing: [],
      unreadable: [],
      citations: [],
    });
  });

  it('does not find a letter without its mark, and bounds the marks of a letter', () => {
    const report = verifyQuotes('“we all went to the cafe”', [{ id: 'a', document: 'we all went to the cafe\u0301' }]);
    expect(report.missing).toHaveLength(1);
    const marks = `${'\u0301'.repeat(200_000)}${'\u0316'.repeat(200_000)}`;
    const document = `The lock file e${marks} names its owner.`;
    expect(verifyQuotes('“names its owner.”', [{ id: 'a', document }]).found[0]?.places[0]?.end).toBe(document.length);
  });

  it('ignores characters without width, a byte order mark and marks of the direction', () => {
    const document = 'The lo\ufeffck file \u200enames\u202a its\u2069 ow\u200bner.';
    const { found } = verifyQuotes('“The lock file names its owner.”', [{ id: 'a', document }]);
    expect(found[0]?.places).toEqual([{ id: 'a', start: 0, end: document.length }]);
  });

  it.each([
    // Each with an ellipsis that may stand for other text.
    ['parts in another order', '"taken over after thirty … The lock file names"'],
    ['parts that overlap', '"The lock file names its … names its owner"'],
    ['parts in two sources', '"the disk is full … lock is taken over"'],
    ['a gap that is too long', '"The lock file names … old snapshots first"', { maxGap: 50 }],
    ['a word that is missing', '"A lock is taken over after thirty seconds"'],
  ])('does not tolerate %s', (_what, answer, options?: { maxGap: number }) => {
    expect(verifyQuotes(answer, sources, { ellipsis: 'allow', ...options })).toMatchObject({
      found: [],
      missing: [{}],
    });
  });

  it('finds the parts of a quote that are closest to each other', () => {
    const document = `one thing ${'x'.repeat(600)} one thing and another thing`;
    const { found } = verifyQuotes('"one thing … another thing"', [{ id: 'a', document }], { ellipsis: 'allow' });
    expect(found[0]?.places).toMatchObject([{ start: 611, end: document.length }]);
  });

  it('reports each place, in all sources, up to a limit', () => {
    const document = 'The same sentence. '.repeat(20);
    const many = [
      { id: 'a', document },
      { id: 'b', text: document },
    ];
    const places = (maxPlaces: number): unknown[] =>
      verifyQuotes('"The same sentence"', many, { maxPlaces }).found[0]?.places.map(({ id, start }) => id + start) ??
      [];
    expect(places(3)).toEqual(['a0', 'a19', 'a38']);
    expect(places(25)).toHaveLength(25);
    expect(places(25).at(-1)).toBe('b76');
  });

  it('finds places that do not overlap', () => {
    const [quote] = verifyQuotes('“tick tock tick tock”', [{ id: 'a', document: 'tick tock '.repeat(5) }]).found;
    expect(quote?.places.map(({ start }) => start)).toEqual([0, 20]);
  });

  it('ignores short quotes, code and texts in no quotation marks', () => {
    const answer =
      'Press "OK". Run `echo "not a quote at all"`:\n```js\nconst x = "also not a quote";\n```\nA 5" disk, a 10" disk.';
    expect(verifyQuotes(answer, sources)).toEqual({ found: [], missing: [], unreadable: [], citations: [] });
    expect(verifyQuotes(answer, sources, { minLength: 2 }).missing).toMatchObject([{ text: 'OK' }]);
  });

  it('takes chunks of documents, whose places are those of the document', async () => {
    const source = '# Locks\n\nA lock has one owner.\n\n# Disks\n\nA disk has no owner at all.';
    const chunks = await MDocument.fromMarkdown(source, { source: 'guide.md' }).chunk();
    const [quote] = verifyQuotes('"A disk has no owner at all"', chunks).found;
    const place = quote?.places[0];
    expect(source.slice(place?.startIndex, place?.endIndex)).toBe('A disk has no owner at all');
  });

  it('finds every part of a text, at a place that holds it', () => {
    const units = fc.constantFrom('a', 'b', ' ', '\n', '–', '-', '“', 'é', '👩‍👧', '\u00ad', '.', '\ud800');
    const texts = fc.array(units, { minLength: 1, maxLength: 80 }).map((parts) => parts.join(''));
    const plain = (value: string): string =>
      value.replaceAll('\u00ad', '').replaceAll(/[–-]+/g, '-').replaceAll('“', "'").replaceAll(/\s+/g, ' ').trim();
    fc.assert(
      fc.property(texts, fc.nat(80), fc.nat(80), (document, first, length) => {
        const part = document.slice(first, first + length);
        fc.pre(!/["“”]|\.\.|^\s|\s$|^$/.test(part) && plain(part).length > 1);
        const { found, missing } = verifyQuotes(`«${part}»`, [{ id: 'a', document }], { minLength: 1 });
        expect(missing).toEqual([]);
        for (const { start, end } of found[0]?.places ?? [])
          expect(plain(document.slice(start, end)).replace(/[.]$/, '')).toBe(plain(part).replace(/[.]$/, ''));
      }),
    );
  });

  it.each([
    ['an answer that is not a text', () => verifyQuotes(undefined as never, [])],
    ['sources that are not a list', () => verifyQuotes('', {} as never)],
    ['a source without id', () => verifyQuotes('', [{ document: 'x' } as never])],
    ['a document that is not a text', () => verifyQuotes('', [{ id: 'a', document: 5 as never }])],
    ['an unknown meaning of an ellipsis', () => verifyQuotes('', [], { ellipsis: 'maybe' as never })],
    ['a length of zero', () => verifyQuotes('', [], { minLength: 0 })],
    ['options that are not an object', () => verifyQuotes('', [], null as never)],
    ['a gap that is not a number', () => verifyQuotes('', [], { maxGap: Number.NaN })],
  ])('rejects %s', (_what, call) => {
    expect(call).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });

  describe('with hostile quotes', () => {
    const hostile = 'a'.repeat(300_000);
    const document = (unit: string): QuoteSource[] => [{ id: 'a', document: unit }];

    it.each([
      ['a long quote that almost matches', `"${'a'.repeat(50_000)}b"`, 1],
      [
        'many quotes that are parts of each other',
        Array.from({ length: 100 }, (_, n) => `"${'a'.repeat(n + 15)}b"`).join(' '),
        100,
      ],
      ['quotation marks that are never closed', '“«„"a'.repeat(30_000), 0],
      ['backticks that are never closed', '` `` ``` '.repeat(50_000) + '"', 0],
      ['many ellipses', `"${'… b'.repeat(20_000)}"`, 1],
      ['a quote with many marks', `“the disk ${'[`](a(\\'.repeat(20_000)}”`, 1],
    ])('verifies %s', (_what, answer, missing) => {
      expect(verifyQuotes(answer, document(hostile)).missing).toHaveLength(missing);
    });

    it('reads hostile marks of a source in linear time', () => {
      const marks = ['[', '](a', '](()', '`` ` ', '\\', '\n- ', '](a(b)']
        .map((unit) => unit.repeat(60_000))
        .join('\n\n');
      expect(verifyQuotes('“the disk is full”', document(marks)).missing).toHaveLength(1);
    });

    it('verifies many quotes that occur everywhere', () => {
      const answer = Array.from({ length: 400 }, (_, n) => `"${'a'.repeat(n + 15)}"`).join(' ');
      const { found } = verifyQuotes(answer, document(hostile));
      expect(found).toHaveLength(400);
      expect(found.every(({ places }) => places.length === 10)).toBe(true);
    });

    it('refuses more quotes than can be compared with the sources', () => {
      const answer = Array.from({ length: 400 }, (_, n) => `"${'a'.repeat(15)}b${n}"`).join(' ');
      expectError(() => verifyQuotes(answer, document(hostile)), 'CITATION_TOO_COSTLY');
    });

    it('refuses quotes with ellipses whose parts occur too often', () => {
      const answer = Array.from({ length: 40 }, (_, n) => `"${'a'.repeat(n + 15)} … b${n}"`).join(' ');
      expectError(() => verifyQuotes(answer, document(hostile)), 'CITATION_TOO_COSTLY');
    });
  });
});

describe('findQuotes', () => {
  it.each([
    ['“one” "two" «three» »four« „five“ „six”', ['one', 'two', 'three', 'four', 'five', 'six']],
    ['« un texte »', ['un texte']],
    ['“outer “inner” outer” and “He said "no".”', ['outer “inner” outer', 'He said "no".']],
    ['“never closed, but "closed" and “closed too”', ['closed', 'closed too']],
    ['"a\n\nb" c "d"', ['a\n\nb', 'd']],
    ['“a\n\n“b\n\n“c” d', ['a', 'b', 'c']],
    ['- “a\n- b” c', ['a\n- b']],
    ['"first line\nsecond line"', ['first line\nsecond line']],
    ['> one\n> two\n>\n> three\nfour', ['one\ntwo', 'three']],
    ['> > nested\r\n> > lines\r\n', ['nested\nlines']],
    ['text\n> quote\n\n```\n> code\n"code"\n```\n"after"', ['quote', 'after']],
    ['```code``` is a span.\n\n"after"', ['after']],
    ['```\n```js\n"code"\n```\n"after"', ['after']],
    ['``a "b" ` c`` "d"', ['d']],
    ['(“a”, "b")', ['a', 'b']],
  ])('reads %j', (answer, expected) => {
    expect(quoted(answer)).toEqual(expected);
  });

  it('gives places that hold the text of an inline quote', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('“', '”', '"', '«', '»', '„', 'a', ' ', '\n', '`', '>'), { maxLength: 60 }),
        (parts) => {
          const answer = parts.join('');
          for (const { text: content, start, end } of Object.values(findQuotes(answer)).flat()) {
            expect(start).toBeLessThanOrEqual(end);
            if (!answer.includes('>')) expect(answer.slice(start, end)).toBe(content);
          }
        },
      ),
    );
  });
});
