import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corpus, filesOf } from '../corpus.mjs';
import { halves, readCases, readHalves } from '../halves.mjs';

interface Case {
  question: string;
  answers: readonly { source: string; quote?: string; row?: readonly string[] }[];
  isReworded?: true;
}

const halfOf: Map<string, string> = readHalves();
const formatOf = new Map<string, string>(
  corpus.flatMap(filesOf).map(({ source, format }: { source: string; format: string }) => [source, format]),
);
const cases = new Map<string, Case[]>(halves.map((half: string) => [half, readCases(half)]));
const all = [...cases.values()].flat();

describe('the documents', () => {
  it('are at least 250, each known by one name, and half of each format is held out', () => {
    assert.ok(formatOf.size >= 250);
    assert.equal(corpus.flatMap(filesOf).length, formatOf.size);
    for (const format of new Set(formatOf.values())) {
      const own = [...formatOf.keys()].filter((source) => formatOf.get(source) === format);
      const visible = own.filter((source) => halfOf.get(source) === 'visible').length;
      assert.ok(Math.abs(own.length - 2 * visible) <= 1, format);
    }
  });
});

describe('the questions', () => {
  it('are at least 150 with an answer, half of them in other words, and 15 without', () => {
    const answerable = all.filter(({ answers }) => answers.length > 0);
    assert.ok(answerable.length >= 150);
    assert.ok(answerable.filter(({ isReworded }) => isReworded).length >= answerable.length / 2);
    assert.equal(all.length - answerable.length, 15);
    assert.equal(new Set(all.map(({ question }) => question)).size, all.length);
  });

  it('are about documents of their half; other documents may answer them too', () => {
    for (const [half, own] of cases) {
      for (const { question, answers } of own) {
        for (const { source } of answers.slice(0, 1)) assert.equal(halfOf.get(source), half, `${question}: ${source}`);
        for (const { source } of answers) assert.ok(halfOf.has(source), source);
      }
    }
  });

  it('cover every format in both halves', () => {
    for (const own of cases.values()) {
      const covered = new Set(own.flatMap(({ answers }) => answers.map(({ source }) => formatOf.get(source))));
      assert.deepEqual([...covered].sort(), [...new Set(formatOf.values())].sort());
    }
  });

  it('are each bound to a quote or a row', () => {
    for (const { question, answers } of all) {
      for (const { quote, row } of answers) assert.ok((quote ?? row ?? []).length > 0, question);
    }
  });
});
