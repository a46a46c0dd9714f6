import { expect, test, vi } from 'vitest';
import { completeLazily } from './lazy-object.js';

interface Pair {
  id: string;
  left: { of: string };
  right: string;
}

const make = vi.fn((of: string): Pair => ({ id: of, left: { of }, right: `right of ${of}` }));
const pairOf = (id: string): Pair =>
  completeLazily<Pair>({ id }, ['left', 'right'], { made: undefined, make: () => make(id) });

test('members are made once, when one of them is read', () => {
  make.mockClear();
  const pair = pairOf('a');
  expect(pair.id).toBe('a');
  expect(Object.keys(pair)).toEqual(['id', 'left', 'right']);
  expect('left' in pair).toBe(true);
  expect(make).not.toHaveBeenCalled();
  expect(pair.right).toBe('right of a');
  expect(pair.left).toBe(pair.left);
  expect(make).toHaveBeenCalledTimes(1);
});

test('objects beside each other have members of their own', () => {
  const [a, b] = [pairOf('a'), pairOf('b')];
  expect([b.left.of, a.left.of]).toEqual(['b', 'a']);
});

test('a copy by spreading, a proxy, a frozen object and an heir have the same members', () => {
  const pair = pairOf('a');
  const { left } = pair;
  for (const other of [{ ...pair }, new Proxy(pair, {}), Object.freeze(pairOf('a')), Object.create(pair) as Pair]) {
    expect(other.left).toEqual(left);
    expect(other.right).toBe('right of a');
  }
  expect({ ...pair }.left).toBe(left);
  expect(JSON.parse(JSON.stringify(pair))).toEqual({ id: 'a', left: { of: 'a' }, right: 'right of a' });
});

test('a member can be replaced and deleted', () => {
  const pair: Partial<Pair> = pairOf('a');
  pair.right = 'mine';
  expect(pair.right).toBe('mine');
  expect({ ...pair }).toMatchObject({ right: 'mine', left: { of: 'a' } });
  delete pair.left;
  expect(Object.keys(pair)).toEqual(['id', 'right']);
});
