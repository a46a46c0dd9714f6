import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeForLog } from './escape-for-log.js';

test('nothing of a stranger can forge a line, colour the terminal, turn text around or hide', () => {
  expect(escapeForLog('a\nforged\u001B[31mred\u202Eright\u200Bnothing\u2028line\u{E0041}')).toBe(
    'a\\u000aforged\\u001b[31mred\\u202eright\\u200bnothing\\u2028line\\u{e0041}',
  );
});

test('printable text stays as it is', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~äöü你好]*$/), (text) => {
      expect(escapeForLog(text)).toBe(text);
    }),
  );
});
