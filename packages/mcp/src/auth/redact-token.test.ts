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

test('looks once at each place of the text, because a client may send a token of equal letters', () => {
  const token = 'a'.repeat(300);
  const search = vi.spyOn(String.prototype, 'indexOf');
  const replace = vi.spyOn(Array.prototype, 'fill');
  const redacted = redactToken(token, token);
  const work = search.mock.calls.length + replace.mock.calls.length;
  search.mockRestore();
  replace.mockRestore();
  expect(redacted).toBe('[token]');
  expect(work).toBeLessThanOrEqual(token.length);
});
