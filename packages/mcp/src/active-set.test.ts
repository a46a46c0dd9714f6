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
  for (let step = 0; step < 8000; step += 1) {
    // Grows to hundreds, and shrinks to none.
    const isGrowing = Math.floor(step / 1000) % 2 === 0;
    const id = random(400);
    const member = expected.get(id);
    if (member && (!isGrowing || random(4) === 0)) {
      set.delete(member);
      expected.delete(id);
    } else if (!member && (isGrowing || random(4) === 0)) {
      expected.set(id, { id });
      set.add(expected.get(id) as Member);
    }
    expect(set.size).toBe(expected.size);
    expect(set.find(id)).toBe(expected.get(id));
    // Another object with the key of a member is not a member.
    set.delete({ id });
    expect(set.has({ id })).toBe(false);
  }
  expect(new Set(set)).toEqual(new Set(expected.values()));
});

test('compares few members of a large set', () => {
  let reads = 0;
  const set = new ActiveSet<Member>(({ id }) => ((reads += 1), id));
  const members = Array.from({ length: 10_000 }, (_, id) => ({ id }));
  for (const member of members) set.add(member);
  for (const member of members) {
    expect(set.find(member.id)).toBe(member);
    set.delete(member);
  }
  expect(set.size).toBe(0);
  expect(reads).toBeLessThan(100_000);
});
