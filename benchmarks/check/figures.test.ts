import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findWorse, mergeFigures, replaceRegion } from '../figures.mjs';
import { drawPlots } from '../plots.mjs';

const known = {
  'server/cpu/Quiver': { value: 0.1, best: 'least' },
  'server/cpu/SDK': { value: 1, best: 'least' },
  'field/hit@3/Quiver': { value: 0.8, best: 'most' },
};

describe('findWorse', () => {
  it('names figures of Quiver that are more than 15 % worse, in either direction', () => {
    const measured = {
      'server/cpu/Quiver': { value: 0.12, best: 'least' },
      'server/cpu/SDK': { value: 2, best: 'least' },
      'field/hit@3/Quiver': { value: 0.6, best: 'most' },
      'field/MRR/Quiver': { value: 0.1, best: 'most' },
    };
    assert.deepEqual(findWorse(known, measured), [
      'server/cpu/Quiver is 0.12, stored 0.1 (the least is best)',
      'field/hit@3/Quiver is 0.6, stored 0.8 (the most is best)',
    ]);
  });

  it('accepts smaller differences and improvements', () => {
    const measured = {
      'server/cpu/Quiver': { value: 0.11, best: 'least' },
      'field/hit@3/Quiver': { value: 0.95, best: 'most' },
    };
    assert.deepEqual(findWorse(known, measured), []);
  });
});

describe('mergeFigures', () => {
  it('keeps figures of parts that did not run, sorted by name', () => {
    const all = mergeFigures(known, { 'client/cpu/Quiver': { value: 0.234567, best: 'least' } });
    assert.deepEqual(Object.keys(all), ['client/cpu/Quiver', ...Object.keys(known).toSorted()]);
    assert.equal(all['client/cpu/Quiver'].value, 0.2346);
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

describe('drawPlots', () => {
  it('draws the systems of a plot, the best first, and no plot without figures', () => {
    const figures = 'server/sessions/echo@16/cpu-to-sdk1';
    const plots = drawPlots({
      [`${figures}/SDK`]: { value: 1, best: 'least' },
      [`${figures}/Quiver`]: { value: 0.1, best: 'least' },
    });
    assert.deepEqual(Object.keys(plots), ['bench-server.svg']);
    assert.match(plots['bench-server.svg'], /Quiver[^]*class="own"[^]*SDK<[^]*class="other"/);
  });
});
