import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeForLog } from './escape-for-log.js';

test('escapes untrusted text that could forge a line, color the terminal, reverse text or hide', () => {
  expect(escapeForLog('a\nforged\u001B[31mred\u202Eright\u200Bnothing\u2028line\u{E0041}')).toBe(
    'a\\u000aforged\\u001b[31mred\\u202eright\\u200bnothing\\u2028line\\u{e0041}',
  );
});

test('returns printable text unchanged', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~äöü你好]*$/), (text) => {
      expect(escapeForLog(text)).toBe(text);
    }),
  );
});
