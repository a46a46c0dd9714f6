import { describe, expect, test } from 'vitest';
import type { SkippedText } from '@quiver/rag/document';
import { expectLinearTime } from '../../../../scripts/test-cpu-time.ts';
import { findMailParts } from './mail-parts.js';
import { findMarkdownParts } from './markdown-parts.js';
import { findRepeated, onPages, onSlides, skipRepeated } from './repeated-blocks.js';
import { isTitle } from './title.js';

/** The kinds of the parts, and their text. */
const read = (text: string, parts: readonly SkippedText[]): [string, string][] =>
  parts.map(({ start, end, kind }) => [kind, text.slice(start, end)]);

describe('badges', () => {
  test('are lines of pictures, and HTML without text', () => {
    const head = '<p align="center">\n  <img src="logo.svg" alt="Logo">\n</p>';
    const badges = '[![npm](https://img.shields.io/npm/v/got.svg)](https://npm.im/got) ![build][build] | [![x][y]][z]';
    const text = `${head}\n\n${badges}\n\n# Got\n\nA picture ![of text](a.png) in a sentence.\n\n<!-- toc -->\n\n## Use`;
    expect(read(text, findMarkdownParts(text))).toEqual([
      ['badges', `${head}\n\n${badges}`],
      ['badges', '<!-- toc -->'],
    ]);
  });

  test.each([
    '<h1 align="center">Got</h1>',
    '```html\n<p align="center">\n</p>\n```',
    'a < b and b > a',
    '[link](a.md)',
    '- ---',
  ])('are not %j', (text) => {
    expect(findMarkdownParts(text)).toEqual([]);
  });

  test.each(['![', '<!--', '[![](', '<a ', '- [a](#', '---\n'])('are found in linear time: %j', async (unit) => {
    await expectLinearTime((count) => expect(findMarkdownParts(unit.repeat(count))).toEqual([]), 6000);
  });
});

test('rules next to badges are not searched, and other lines of dashes are', () => {
  const text =
    '# Got\n\nText.\n\n---\n\n&nbsp;\n\n<!-- <br> -->\n\n---\n\nHeading\n---\n\n![x](y)\n\nMore.\n\n---\n\nEnd.';
  expect(read(text, findMarkdownParts(text))).toEqual([
    ['badges', '---\n\n&nbsp;\n\n<!-- <br> -->\n\n---'],
    ['badges', '![x](y)'],
  ]);
});

describe('contents of Markdown', () => {
  test('are lists of links within the page, with their title', () => {
    const list = '**Table of contents**\n\n- [Use](#use)\n  * [Install](#install)\n    1. [From source](#from-source)';
    const text = `# Got\n\n${list}\n\n## Use\n\nRun it.`;
    expect(read(text, findMarkdownParts(text))).toEqual([['contents', list]]);
    expect(read(`# Help\n\n${list.slice(23)}`, findMarkdownParts(`# Help\n\n${list.slice(23)}`))).toEqual([
      ['contents', list.slice(23)],
    ]);
  });

  test.each([
    '- [Use](#use)\n- [Install](#install)',
    '- [Use](#use): how to\n- [Install](#install): how to\n- [End](#end): how to',
    '- [Use](use.md)\n- [Install](install.md)\n- [End](end.md)',
    '```\n- [Use](#use)\n- [Install](#install)\n- [End](#end)\n```',
  ])('are not %j', (text) => {
    expect(findMarkdownParts(text)).toEqual([]);
  });
});

describe('parts of mail', () => {
  test('are quotes, signatures and notices', () => {
    const quote = 'On Mon, 2 Mar 2026 at 10:00, Bob <bob@example.com>\nwrote:\n\n> When is it due?\n> Regards';
    const disclaimer =
      'This e-mail is confidential and intended only for the person that it is addressed to.\nDelete it otherwise.';
    const text = `It is due on Friday.\n\n${quote}\n\nAnd the second part next week.\n\n-- \nAda Quill\nAccounting\n\n${disclaimer}\n`;
    expect(read(text, findMailParts(text))).toEqual([
      ['quoted', quote],
      ['signature', `-- \nAda Quill\nAccounting\n\n${disclaimer}`],
    ]);
    const short = `Yes.\n\nSent from my phone\n\n${disclaimer}`;
    expect(read(short, findMailParts(short))).toEqual([
      ['signature', 'Sent from my phone'],
      ['notice', disclaimer],
    ]);
  });

  test.each([
    'Yes.\r\n\r\n-----Original Message-----\r\nFrom: Bob\r\nSent: Monday\r\n\r\nAgreed?',
    'Yes.\n\nFrom: Bob <bob@example.com>\nSent: Monday\nTo: Ada\n\nAgreed?',
  ])('are what a program puts below a reply: %#', (text) => {
    expect(findMailParts(text).map(({ kind }) => kind)).toEqual(['quoted']);
    expect(text.slice(0, findMailParts(text)[0]?.start).trim()).toBe('Yes.');
  });

  test.each([
    ['French headers', 'De : A <a@x.fr>\nEnvoyé : lundi\nÀ : B\n\nLe texte.'],
    ['Dutch headers', 'Van: A\nVerzonden: maandag\n\nDe tekst.'],
    [
      'an attribution without marks',
      'On Mon, 3 Mar 2025 at 10:00, Ann <ann@x.example> wrote:\n\nShall we meet?\n\nAnn',
    ],
  ])('are quotes below %s', (_name, quote) => {
    const mail = `Yes.\n\n${quote}`;
    expect(findMailParts(mail)).toEqual([{ start: 6, end: mail.length, kind: 'quoted' }]);
  });

  test('are not a mail that has nothing else, a forwarded mail, or a text with a dash', () => {
    for (const text of [
      '> quoted\n> only',
      '---------- Forwarded message ---------\nFrom: Bob\n\nText.',
      'One -- two\n--- three',
    ])
      expect(findMailParts(text)).toEqual([]);
  });
});

describe('blocks that most texts repeat', () => {
  const slide = (title: string): { text: string } => ({
    text: `# ${title}\n\nPoint of ${title}\n\nACME Corp. Confidential`,
  });

  test('are not searched', () => {
    const slides = ['One', 'Two', 'Three', 'Four'].map(slide);
    const repeated = findRepeated(slides, onSlides);
    expect([...repeated]).toEqual(['ACME Corp. Confidential']);
    const [first] = slides.map((text) => skipRepeated(text, repeated, onSlides)) as {
      text: string;
      skip?: SkippedText[];
    }[];
    expect(read(first!.text, first!.skip ?? [])).toEqual([['boilerplate', 'ACME Corp. Confidential']]);
  });

  test('are looked for at both ends of a page, and not if they are most of it', () => {
    const steps = Array.from({ length: 20 }, (_, index) => (index === 10 ? 'Example' : `Step ${index}`)).join('\n\n');
    const pages = ['One', 'Two', 'Three', 'Four'].map((title) => ({
      text: `Logo\n\n# ${title}\n\n${title} begins.\n\n${steps.replaceAll('Step', title)}`,
    }));
    const repeated = findRepeated(pages, onPages);
    expect([...repeated]).toEqual(['Logo']);
    expect(skipRepeated(pages[0]!, repeated, onPages)).toHaveProperty('skip.0.kind', 'boilerplate');
    expect(skipRepeated({ text: 'V\n\nLogo' }, new Set(['Logo']), onPages)).not.toHaveProperty('skip');
    const [first, second, ...others] = pages as [{ text: string }, { text: string }];
    const without = ({ text }: { text: string }) => ({ text: text.slice(4) });
    expect(findRepeated([without(first), second, ...others], onPages).size).toBe(1);
    expect(findRepeated([without(first), without(second), ...others], onPages).size).toBe(0);
  });

  test('are none in a few texts, and no headings of a text', () => {
    expect(findRepeated(['One', 'Two', 'Three'].map(slide), onSlides).size).toBe(0);
    const agendas = ['a', 'b', 'c', 'd', 'e'].map((text) => ({ text: `# Agenda\n\n${text}` }));
    expect(skipRepeated(agendas[0]!, findRepeated(agendas, onSlides), onSlides)).not.toHaveProperty('skip');
  });
});

test('titles that programs write are none', () => {
  const generated = [
    'Presentation1',
    'PptxGenJS Presentation',
    'PowerPoint Presentation',
    'Microsoft Word - report.docx',
    'Untitled',
    'Untitled document',
    'Book 1',
    '1',
    'Click to edit Master title style',
    'Slide 3',
  ];
  expect(generated.filter(isTitle)).toEqual([]);
  const given = [
    'Presentation of results',
    'The Book of Numbers',
    'Document retention',
    'Title IX',
    'Новый год',
    'New York',
  ];
  expect(given.filter(isTitle)).toEqual(given);
});
