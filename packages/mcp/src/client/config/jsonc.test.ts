import { assert, constantFrom, json, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonc } from './jsonc.js';

describe('parseJsonc', () => {
  test('parses JSON as JSON.parse does', () => {
    assert(
      property(json(), constantFrom(undefined, 2), (text, indent) => {
        const expected: unknown = JSON.parse(text);
        expect(parseJsonc(JSON.stringify(expected, null, indent))).toStrictEqual(expected);
      }),
    );
  });

  test.each([
    ['// a\n{ /* b */ "c" /**/ : [1, 2, /* d */ ], // e\n}', { c: [1, 2] }],
    [
      '\uFEFF{ "url": "https://a.example//b", "glob": "/* not a comment */", }\r\n',
      { url: 'https://a.example//b', glob: '/* not a comment */' },
    ],
    ['[-1.5e3, "\\u00e4\\"//", true, null] // end', [-1500, 'ä"//', true, null]],
    ['{ "__proto__": 1 }', JSON.parse('{ "__proto__": 1 }')],
  ])('accepts comments, trailing commas and a byte order mark in %j', (text, expected) => {
    expect(parseJsonc(text)).toStrictEqual(expected);
  });

  test.each([
    ['', 'line 1, column 1: expected a value'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: expected a comma or }'],
    ['{ a: 1 }', 'line 1, column 3: expected a name in double quotes'],
    ['{ "a" 1 }', 'line 1, column 7: expected a colon'],
    ['{ "a": }', 'line 1, column 8: expected a value'],
    ['[1,,2]', 'line 1, column 4: expected a value'],
    ['[1 2]', 'line 1, column 4: expected a comma or ]'],
    ['[1', 'line 1, column 3: expected a comma or ]'],
    ['{"a": tru}', 'line 1, column 7: expected a value'],
    ['{"a": "b\n"}', 'line 1, column 7: expected JSON, with every text and comment closed'],
    ['{"a": "\\x"}', 'line 1, column 7: expected a value'],
    ['{} /* a', 'line 1, column 4: expected JSON, with every text and comment closed'],
    ['{} {}', 'line 1, column 4: expected the end of the file'],
    ["{'a': 1}", 'line 1, column 2: expected JSON'],
    ['['.repeat(100_000), 'line 1, column 202: expected at most 200 levels of nesting'],
  ])('names the place of the error in %#', (text, message) => {
    expect(() => parseJsonc(text)).toThrow(message);
  });
});
