import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutLongestArray } from './cut-texts.js';
import { findCut } from './cut-texts.js';
import { cutTexts } from './cut-texts.js';
import { parseResultLimit } from './size-limit.js';

const limits = fc.oneof(
  fc.record({ characters: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ tokens: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ tokens: fc.integer({ min: 1, max: 100 }), countTokens: fc.constant((text: string) => text.length / 3) }),
);
const texts = fc.string({ unit: 'grapheme', maxLength: 400 });
const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

describe('text', () => {
  test('is cut between graphemes', () => {
    fc.assert(
      fc.property(texts, limits, (text, given) => {
        const cut = findCut(text, parseResultLimit(given).lengthWithin(text));
        const parts = [text.slice(0, cut), text.slice(cut)];
        expect(parts.flatMap(graphemes)).toEqual(graphemes(text));
      }),
    );
  });

  test('is within the limit, as far as a whole character is', () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), limits, (all, given) => {
        const limit = parseResultLimit(given);
        const cut = cutTexts(all, limit);
        const whole = all.join('\n');
        if (!cut) {
          expect(limit.lengthWithin(whole)).toBe(whole.length);
          return;
        }
        const shown = cut.texts.filter((text) => text !== undefined).join('\n');
        if (cut.unit === 'characters') {
          expect(whole.startsWith(shown)).toBe(true);
          expect(cut).toMatchObject({ total: whole.length });
          const first = graphemes(whole)[0]?.length ?? 0;
          expect(shown.length).toBeLessThanOrEqual(Math.max(first, limit.lengthWithin(whole)));
        }
      }),
    );
  });

  test.each([996, 998, 1_000, 1_002])('of flags is cut between them at %d', (end) => {
    const text = '🇩🇪'.repeat(500);
    expect(findCut(text, end) % 4).toBe(0);
    expect(findCut(`-${text}`, end) % 4).toBe(1);
  });

  test('with a cluster of a thousand marks is cut between code points', () => {
    const text = `a${'\u0301'.repeat(1_000)}${'🎉'.repeat(10)}`;
    const next = findCut(text, 500);
    expect(next).toBeGreaterThan(0);
    expect(text.slice(next)).not.toMatch(/\p{Surrogate}/u);
  });
});

describe('JSON', () => {
  test('keeps the first elements, and everything else of the value', () => {
    const elements = fc.array(fc.oneof(fc.integer(), fc.string(), fc.record({ id: fc.integer() })), { maxLength: 60 });
    const values = fc.oneof(elements, fc.record({ rows: elements, other: fc.string({ maxLength: 20 }) }));
    fc.assert(
      fc.property(values, limits, (value, given) => {
        const limit = parseResultLimit(given);
        const cut = cutLongestArray(value, limit);
        if (!cut) return;
        const { total, next, marked } = cut;
        const all: unknown[] = Array.isArray(value) ? value : value.rows;
        const mark = { items: all.slice(0, next), truncated: true, total: all.length, next };
        expect(total).toBe(all.length);
        expect(next).toBeGreaterThan(0);
        expect(next).toBeLessThan(all.length);
        expect(marked).toEqual(Array.isArray(value) ? mark : { ...value, rows: mark });
        const json = JSON.stringify(marked);
        expect(limit.lengthWithin(json)).toBe(json.length);
      }),
    );
  });

  test.each(['__proto__', 'constructor', 'toString'])('may have the key %s', (key) => {
    const value: unknown = JSON.parse(`{"${key}":[${'"row",'.repeat(99)}"row"]}`);
    const cut = cutLongestArray(value, parseResultLimit({ characters: 200 }));
    expect(JSON.stringify(cut?.marked)).toContain(`{"${key}":{"items":["row"`);
    expect(Object.getPrototypeOf(cut?.marked)).toBe(Object.prototype);
  });

  test.each([
    ['short ones', []],
    ['short ones after long ones', ['x', 'x'.repeat(3000), 'x'.repeat(3000)]],
  ])('of very many elements is cut once, with few calls of the counter: %s', (_name, first) => {
    let counted = 0;
    let calls = 0;
    const countTokens = (text: string): number => {
      calls += 1;
      counted += text.length;
      return text.length / 4;
    };
    const value = [...first, ...Array.from({ length: 100_000 }, (_, id) => ({ id }))];
    const cut = cutTexts([JSON.stringify(value)], parseResultLimit({ tokens: 1_000, countTokens }));
    expect(cut?.unit).toBe('elements');
    // The counter is slow, and reads about the size of the limit, and each element together with others.
    expect(counted).toBeLessThan(3_000_000);
    expect(calls).toBeLessThan(10_000);
  });
});
