import { expect, test } from 'vitest';
import { toToolName } from './tool-set.js';

test('separates equal names, in the same way in every process', () => {
  const first = toToolName('a_b', 'c', new Set());
  const second = toToolName('a', 'b_c', new Set([first]));
  expect(first).toBe('a_b_c');
  expect(second).toMatch(/^a_b_c_[0-9a-f]{8}$/);
  expect(toToolName('a', 'b_c', new Set([first]))).toBe(second);
});

test('long names are shortened to 64 characters and stay distinct', () => {
  const names = ['x', 'y'].map((end) => toToolName('server', 'tool'.repeat(30) + end, new Set()));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{64}$/);
});
