import { describe, expect, test } from 'vitest';
import { isAllowed, parseRobots } from './robots.js';

const allows = (robots: string, path: string, agent = 'quiver'): boolean => isAllowed(parseRobots(robots, agent), path);

// RFC 9309, sections 2.2.1 to 2.2.4.
describe('robots.txt', () => {
  test.each([
    ['', '/a', true],
    ['User-agent: *\nDisallow: /', '/a', false],
    ['User-agent: *\nDisallow:', '/a', true],
    ['User-agent: *\nDisallow: /a', '/ab/c', false],
    ['User-agent: *\nDisallow: /a/', '/a', true],
    ['User-agent: *\nDisallow: /*.pdf$', '/x/y.pdf', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/x/y.pdf?z', true],
    ['User-agent: *\nDisallow: /*a*a$', '/ba', true],
    ['User-agent: *\nDisallow: /a$', '/a', false],
    ['User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
    ['User-agent: *\nDisallow: /%7Ejoe', '/~joe', false],
    ['User-agent: *\nDisallow: /ü', '/%c3%bc', false],
    ['user-AGENT: Quiver # ours\n disallow : /a # no\nUser-agent: *\nDisallow: /', '/b', true],
    ['User-agent: quiver\nUser-agent: x\nDisallow: /a\n\nUser-agent: quiver\nDisallow: /b', '/b', false],
    ['User-agent: quiverbot\nDisallow: /', '/a', true],
    ['Disallow: /', '/a', true],
  ])('%j decides about %s: %s', (robots, path, expected) => {
    expect(allows(robots, path)).toBe(expected);
  });

  test('compares the product name of the user agent', () => {
    expect(allows('User-agent: docs-bot\nDisallow: /', '/a', 'Docs-Bot/1.0 (+https://example.com)')).toBe(false);
  });

  test('compares hostile patterns in linear time', () => {
    const pattern = `/${'*a'.repeat(20_000)}b`;
    expect(allows(`User-agent: *\nDisallow: ${pattern}`, `/${'a'.repeat(50_000)}`)).toBe(true);
  });
});
