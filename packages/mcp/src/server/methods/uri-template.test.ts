import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { matchUriTemplate } from './uri-template.js';

const cases: [template: string, uri: string, expected: Record<string, string> | undefined][] = [
  ['note://list', 'note://list', {}],
  ['note://list', 'note://lists', undefined],
  ['db://{table}/{id}', 'db://orders/7', { table: 'orders', id: '7' }],
  ['db://{table}/{id}', 'db://orders/', undefined],
  ['db://{table}/{id}', 'db://orders/7/8', undefined],
  ['db://{id}', 'db://a%2Fb', { id: 'a/b' }],
  ['db://{id}', 'db://%E4%BD%A0', { id: '你' }],
  ['db://{id}', 'db://%zz', undefined],
  ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
  ['file:///{+path}', 'file:///a/../../etc/passwd', undefined],
  ['file:///{+path}', 'file:///a/%2e%2e/etc/passwd', undefined],
  ['file:///{name}', 'file:///..', undefined],
  ['file:///{name}', 'file:///%2e%2e%5cwindows', undefined],
  ['file:///{name}', 'file:///%252e%252e', undefined],
  ['file:///{name}', 'file:///a%25252f%25252e.%25255cb', undefined],
  ['file:///{name}', 'file:///100%2525', { name: '100%25' }],
  ['file:///{name}', 'file:///a..b', { name: 'a..b' }],
  ['x://{a}-{b}', 'x://1-2-3', { a: '1-2', b: '3' }],
  ['x://{a}{b}', 'x://123', { a: '12', b: '3' }],
  ['x://docs{/section}', 'x://docs', {}],
  ['x://docs{/section}', 'x://docs/intro', { section: 'intro' }],
  ['x://page{#part}', 'x://page#top/1', { part: 'top/1' }],
  ['x://file{.ext}', 'x://file.json', { ext: 'json' }],
  ['x://s{?q,page}', 'x://s', {}],
  ['x://s{?q,page}', 'x://s?q=a%20b&page=2', { q: 'a b', page: '2' }],
  ['x://s{?q,page}', 'x://s?page=2&q=a', { q: 'a', page: '2' }],
  ['x://s{?q}', 'x://s?admin=1', undefined],
  ['x://s?fixed=1{&q}', 'x://s?fixed=1&q=2', { q: '2' }],
  ['x://s{;v}', 'x://s;v=1', { v: '1' }],
  ['x://{id:3}/{rest*}', 'x://abc/d', { id: 'abc', rest: 'd' }],
];

test.each(cases)('matches %s against %s', (template, uri, expected) => {
  const found = matchUriTemplate(template, uri);
  expect(found && { ...found }).toEqual(expected);
});

test.each(['x://{a', 'x://a}', 'x://{}', 'x://{a b}', 'x://{{a}}', `x://${'a'.repeat(3000)}`])(
  'rejects the template %s',
  (template) => {
    expect(() => matchUriTemplate(template, 'x://a')).toThrow(errorOf('URI_TEMPLATE_INVALID'));
  },
);

describe('properties', () => {
  const name = fc.stringMatching(/^[a-z]{1,6}$/);
  const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => {
    return !text.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
  });
  /** As RFC 6570 wants it for simple expressions: everything but unreserved characters is encoded. */
  const encode = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

  test('what a template expands to matches it, with the values it was expanded with', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), fc.infiniteStream(value), (names, values) => {
        const given = Object.fromEntries(names.map((key) => [key, values.next().value as string]));
        const template = `x://host/${names.map((key) => `{${key}}`).join('/')}`;
        const uri = `x://host/${names.map((key) => encode(given[key] as string)).join('/')}`;
        expect({ ...matchUriTemplate(template, uri) }).toEqual(given);
      }),
    );
  });

  test('any text can be tried as a URI', () => {
    fc.assert(
      fc.property(fc.string(), (uri) => {
        expect(() => matchUriTemplate('{+a}{b}{?c}', uri)).not.toThrow();
      }),
    );
  });
});

// CVE-2026-0621: exploded variables of the official SDK's matcher took exponential time.
describe('ReDoS', () => {
  const hostile: [string, string][] = [
    ['{+a*}{+b*}{+c*}{+d*}{+e*}!', 'a'],
    ['{a*}{b*}{c*}/{d*}{e*}', 'a'],
    ['x{+a},{+b},{+c},{+d},x', ','],
    ['{/a*}{/b*}{/c*}', '/a'],
    [`${'{+a}a'.repeat(30)}!`, 'a'],
    ['{?a*,b*}{&c*}', '?a=1&'],
    [`{+a}${'ab'.repeat(900)}c`, 'ab'],
  ];

  /** CPU time of `calls` matches, in microseconds. */
  const cpuTime = (template: string, uri: string, calls: number): number => {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += 1) matchUriTemplate(template, uri);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };

  test.each(hostile)(
    'needs CPU time in proportion to the length of a URI against %.40s',
    { retry: 2 },
    (template, unit) => {
      const [short, long] = [4096, 16_384].map((length) =>
        unit.repeat(Math.ceil(length / unit.length)).slice(0, length),
      ) as [string, string];
      let calls = 1;
      while (cpuTime(template, short, calls) < 10_000) calls *= 2;
      const ratios = [1, 2, 3].map(() => cpuTime(template, long, calls) / cpuTime(template, short, calls));
      // 4 when linear, 16 when quadratic.
      expect(Math.min(...ratios)).toBeLessThan(8);
    },
  );

  test('rejects a URI of more than 16 KiB', () => {
    expect(matchUriTemplate('{+a}', 'a'.repeat(16 * 1024))).toBeDefined();
    expect(matchUriTemplate('{+a}', 'a'.repeat(16 * 1024 + 1))).toBeUndefined();
  });
});
