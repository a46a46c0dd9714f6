import { expect, test, vi } from 'vitest';
import { redactToken } from './redact-token.js';

test.each([
  ['unknown token s3cr3t-s3cr3t!', 's3cr3t-s3cr3t', 'unknown token [token]!'],
  ['a short ab, twice: ab', 'ab', 'a short [token], twice: [token]'],
  ['cr3t-s3cr and more', 's3cr3t-s3cr3t', '[token] and more'],
  ['s3cr3t is too short a fragment', 's3cr3t-s3cr3t', 's3cr3t is too short a fragment'],
  ['no token', '', 'no token'],
])('replaces in %j the token %j', (text, token, redacted) => {
  expect(redactToken(text, token)).toBe(redacted);
});

const token = 'a+b/c=d"e\\f&gh';

test.each([
  ['percent-encoding', encodeURIComponent(token)],
  ['percent-encoding of every byte', Array.from(token, (one) => `%${one.charCodeAt(0).toString(16)}`).join('')],
  ['percent-encoding twice', encodeURIComponent(encodeURIComponent(token))],
  ['part of percent-encoding', encodeURIComponent(token).slice(0, 16)],
  ['JSON', JSON.stringify(token).slice(1, -1)],
  ['JSON with escapes of Unicode', Array.from(token, (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')],
  ['JSON in JSON', JSON.stringify(JSON.stringify(token)).slice(3, -3)],
  ['HTML', token.replaceAll('&', '&amp;').replaceAll('"', '&#34;')],
])('replaces a token in %s', (_encoding, encoded) => {
  expect(redactToken(`Cannot read <${encoded}>.`, token)).toBe('Cannot read <[token]>.');
});

test.each(['', 'x', 'xy', 'Bearer ', 'ada:'])('replaces a token in base64 behind %j', (before) => {
  const opaque = 's3cr3t-s3cr3t-s3cr3t';
  for (const after of ['', '!', '!!'])
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(before + opaque + after).toString(encoding);
      const redacted = redactToken(`Cannot read ${encoded}`, opaque);
      expect(redacted).toContain('[token]');
      // The rest encodes less than a fragment.
      const left = redacted.replace('Cannot read ', '').split('[token]');
      for (const part of left) expect(Buffer.from(part, encoding).toString()).not.toContain('s3cr');
    }
});

test('leaves other encodings unchanged', () => {
  expect(redactToken('100 %41 \\u0041 &amp; %zz &#999999999; YWJjZGVmZ2g=', token)).toBe(
    '100 %41 \\u0041 &amp; %zz &#999999999; YWJjZGVmZ2g=',
  );
});

test('looks once at each place of the text, because a client may send a token of equal letters', () => {
  const letters = 'a'.repeat(300);
  const search = vi.spyOn(String.prototype, 'indexOf');
  const replace = vi.spyOn(Array.prototype, 'fill');
  const redacted = redactToken(letters, letters);
  const work = search.mock.calls.length + replace.mock.calls.length;
  search.mockRestore();
  replace.mockRestore();
  expect(redacted).toBe('[token]');
  expect(work).toBeLessThanOrEqual(letters.length);
});
