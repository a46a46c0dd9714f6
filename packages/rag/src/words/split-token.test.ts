import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeText } from './fold-word.js';
import { toTokens } from './split-token.js';

/** The same without parts: one expression for the whole text. */
function tokensOfWhole(text: string): readonly string[] {
  const normal = normalizeText(text);
  const ascii = /\b[A-Z]\.(?![A-Za-z0-9])|[A-Za-z0-9]+(?:(?:[-._']|::?)[A-Za-z0-9]+)*(?:\+\+|#(?![A-Za-z0-9]))?/g;
  const unicode =
    /(?<![\p{L}\p{N}\p{M}])\p{Lu}\.(?![\p{L}\p{N}])|[\p{L}\p{N}\p{M}]+(?:(?:[-._'’]|::?)[\p{L}\p{N}\p{M}]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu;
  return normal.match(/[\u0080-\uffff]/.test(normal) ? unicode : ascii) ?? [];
}

describe('tokens of a text', () => {
  it('are the same whether it is split at spaces or not', () => {
    const unit = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...'aZ19 ') },
      { weight: 2, arbitrary: fc.constantFrom(...".-_:'+#\n\t") },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...'éÉß’\u0301\u00a0\u3000\u00b4\u00ad\ufb01ＡабЁ日\u0660\u{1d400}\ud800'),
      },
    );
    const far = fc.constant(' plain words_ that_are A. long enough to be far away from others ');
    const text = fc.array(fc.oneof({ weight: 20, arbitrary: unit }, { weight: 1, arbitrary: far }), { maxLength: 150 });
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join('');
        expect(toTokens(whole)).toEqual(tokensOfWhole(whole));
      }),
      { numRuns: 2000 },
    );
  });
});
