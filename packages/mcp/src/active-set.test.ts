import { expect, test } from 'vitest';
import { ActiveSet } from './active-set.js';

interface Member {
  readonly id: number;
}

test('has the members of a set, at every size', () => {
  const set = new ActiveSet<Member>(({ id }) => id);
  const expected = new Map<number, Member>();
  let state = 1;
  // A linear congruential generator: the same steps in every run.
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  let largest = 0;
  let wrong = 0;
  for (let step = 0; step < 60_000; step += 1) {
    // Grows to thousands, and shrinks to hundreds.
    const isGrowing = Math.floor(step / 10_000) % 2 === 0;
    const id = random(5000);
    const member = expected.get(id);
    if (member && (!isGrowing || random(8) === 0)) {
      set.delete(member);
      expected.delete(id);
    } else if (!member && (isGrowing || random(8) === 0)) {
      expected.set(id, { id });
      set.add(expected.get(id) as Member);
    }
    largest = Math.max(largest, set.size);
    if (set.size !== expected.size || set.find(id) !== expected.get(id)) wrong += 1;
    // Another object with the key of a member is not a member.
    set.delete({ id });
    if (set.has({ id })) wrong += 1;
  }
  expect(wrong).toBe(0);
  expect(new Set(set)).toEqual(new Set(expected.values()));
  expect(largest).toBeGreaterThan(3000);
});

test('compares few members of a very large set', () => {
  let reads = 0;
  const set = new ActiveSet<Member>(({ id }) => ((reads += 1), id));
  const members = Array.from({ length: 20_000 }, (_, id) => ({ id }));
  for (const member of members) set.add(member);
  // Up to the size at which the index goes.
  for (const member of members.slice(0, 18_000)) {
    if (set.find(member.id) !== member) throw new Error('not found');
    set.delete(member);
  }
  expect(set.size).toBe(2000);
  expect(reads).toBeLessThan(200_000);
});
