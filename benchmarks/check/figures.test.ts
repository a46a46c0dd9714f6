import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareFigures, comparisonTable, mergeFigures, ratiosTable, replaceRegion } from '../figures.mjs';
import { callRatios } from '../mcp/cases/http-calls.mjs';
import { drawPlots } from '../plots.mjs';

const known = {
  'server/cpu/Quiver': { value: 0.1, best: 'least' },
  'server/cpu/SDK': { value: 1, best: 'least' },
  'field/hit@3/Quiver': { value: 0.8, best: 'most' },
};

describe('compareFigures', () => {
  const outcomesOf = (stored: object, measured: object): string[] =>
    compareFigures(stored, measured).map(({ name, outcome }) => `${name}: ${outcome}`);

  it('names figures of Quiver that moved beyond both spreads', () => {
    const stored = {
      'cpu/Quiver': { value: 1, spread: [0.9, 1.2], best: 'least' },
      'cpu/Quiver, near': { value: 1, spread: [0.9, 1.2], best: 'least' },
      'rate/Quiver': { value: 2, spread: [1.9, 2.1], best: 'most' },
      'cpu/SDK': { value: 1, best: 'least' },
    };
    const measured = {
      'cpu/Quiver': { value: 1.5, spread: [1.3, 1.6], best: 'least' },
      'cpu/Quiver, near': { value: 1.5, spread: [1.1, 1.6], best: 'least' },
      'rate/Quiver': { value: 2.5, spread: [2.2, 2.6], best: 'most' },
      'cpu/SDK': { value: 2, best: 'least' },
      'cpu/Quiver, first': { value: 1, best: 'least' },
    };
    assert.deepEqual(outcomesOf(stored, measured), [
      'cpu/Quiver: worse',
      'cpu/Quiver, near: same',
      'rate/Quiver: better',
      'cpu/Quiver, first: new',
    ]);
  });

  it('accepts a difference of 5 % beyond narrow spreads', () => {
    const stored = { 'heap/Quiver': { value: 1, spread: [0.999, 1.001], best: 'least' } };
    const of = (value: number): object => ({ 'heap/Quiver': { value, spread: [value, value], best: 'least' } });
    assert.deepEqual(outcomesOf(stored, of(1.04)), ['heap/Quiver: same']);
    assert.deepEqual(outcomesOf(stored, of(1.06)), ['heap/Quiver: worse']);
  });

  it('accepts a difference of 15 % in a figure without rounds', () => {
    const measured = {
      'server/cpu/Quiver': { value: 0.114, best: 'least' },
      'field/hit@3/Quiver': { value: 0.6, best: 'most' },
    };
    assert.deepEqual(outcomesOf(known, measured), ['server/cpu/Quiver: same', 'field/hit@3/Quiver: worse']);
  });

  it('is written as a table', () => {
    const measured = { 'server/cpu/Quiver': { value: 0.12345, spread: [0.1, 0.2], best: 'least' } };
    assert.match(
      comparisonTable(compareFigures(known, measured)),
      /\| server\/cpu\/Quiver \| 0.123 \(0.1–0.2\) \| 0.1 \| same \|/,
    );
  });
});

describe('mergeFigures', () => {
  it('keeps figures of parts that did not run, sorted by name', () => {
    const all = mergeFigures(known, { 'client/cpu/Quiver': { value: 0.234567, best: 'least' } });
    assert.deepEqual(Object.keys(all), ['client/cpu/Quiver', ...Object.keys(known).toSorted()]);
    assert.equal(all['client/cpu/Quiver'].value, 0.2346);
  });

  it('drops figures that a part no longer measures', () => {
    const all = mergeFigures(known, { 'server/cpu/Quiver': { value: 0.2, best: 'least' } });
    assert.deepEqual(Object.keys(all), ['field/hit@3/Quiver', 'server/cpu/Quiver']);
  });
});

describe('ratiosTable', () => {
  it('shows each ratio of Quiver with its spread, and says which goal was not reached', () => {
    const of = (value: number): object => ({ value, spread: [1, 2], best: 'least' });
    const table = ratiosTable({
      'server/operation/cpu-to-startHTTP/Quiver, JWT (ES256)': of(1.5),
      'server/operation/cpu-to-startHTTP/Quiver, static token': of(1.2),
      'server/sessions/echo@16/cpu-to-sdk1/SDK 2': of(1.1),
      'server/session/kilobytes/Quiver': of(1.3),
    });
    assert.deepEqual(table.split('\n').slice(2), [
      '| server, operation, JWT (ES256) | CPU | startHTTP | 1.5 | 1–2 | 1.3, not reached |',
      '| server, operation, static token | CPU | startHTTP | 1.2 | 1–2 | 1.3 |',
    ]);
  });
});

describe('replaceRegion', () => {
  it('replaces the tables of one part', () => {
    const page = 'a\n<!-- bench: server -->\nold\n<!-- end -->\nb\n<!-- bench: client -->\nkept\n<!-- end -->\n';
    assert.equal(
      replaceRegion(page, 'server', '| new |\n'),
      'a\n<!-- bench: server -->\n\n| new |\n\n<!-- end -->\nb\n<!-- bench: client -->\nkept\n<!-- end -->\n',
    );
  });

  it('leaves a page without the part', () => {
    assert.equal(replaceRegion('text', 'server', 'new'), 'text');
  });
});

describe('callRatios', () => {
  it('shows the least and the largest ratio of the rounds', () => {
    const rounds = (...cpu: number[]): object[] => cpu.map((value) => ({ perSecond: 1 / value, cpu: value }));
    const table = callRatios({ 'echo@16': { sdk1: rounds(10, 20, 40), quiver: rounds(1, 5, 8) } });
    assert.match(table, /SDK 1[^|]*\| 1.00 · 1.000 \|/);
    assert.match(table, /Quiver[^|]*\| 5.00 \(4.00–10.00\) · 0.200 \(0.100–0.250\) \|/);
  });
});

describe('drawPlots', () => {
  it('draws the systems of a plot, the best first, and no plot without figures', () => {
    const figures = 'server/sessions/echo@16/cpu-to-sdk1';
    const plots = drawPlots({
      [`${figures}/SDK`]: { value: 1, best: 'least' },
      [`${figures}/Quiver`]: { value: 0.1234, best: 'least' },
    });
    assert.deepEqual(Object.keys(plots), ['bench-server.svg']);
    assert.match(plots['bench-server.svg'], /Quiver[^]*class="own"[^]*>0.12<[^]*SDK<[^]*class="other"/);
  });
});
