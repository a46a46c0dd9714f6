import { assert, array, constantFrom, nat, property, record } from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { KeptTasks } from './kept-tasks.js';

const { now } = performance;
afterEach(() => void (performance.now = now));

const step = record({
  what: constantFrom('add', 'delete', 'resize', 'wait'),
  id: constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  principal: constantFrom('ada', 'bob', ''),
  number: nat(6),
});

test('counts the tasks whose lifetime has not ended, and their characters, after any steps', () => {
  assert(
    property(array(step, { maxLength: 40 }), (steps) => {
      let time = 1;
      performance.now = () => time;
      const limits = { maxPerCaller: 2, maxTotal: 4, maxCharactersPerCaller: 6, maxCharacters: 9 };
      const kept = new KeptTasks(limits);
      const known = new Map<string, { principal: string; end: number; size: number }>();
      for (const { what, id, principal, number } of steps) {
        const task = known.get(id);
        if (what === 'wait') time += number;
        else if (what === 'delete') {
          kept.delete(id);
          known.delete(id);
        } else if (what === 'add') {
          kept.add(id, principal, 1 + number);
          known.set(id, { principal, end: time + 1 + number, size: 0 });
        } else {
          kept.resize(id, number);
          if (task) task.size = number;
        }
        const left = [...known.values()].filter(({ end }) => end > time);
        const sizeOf = (tasks: typeof left): number => tasks.reduce((sum, { size }) => sum + size, 0);
        for (const name of ['ada', 'bob', '']) {
          const own = left.filter((each) => each.principal === name);
          const hasRoom = left.length < 4 && sizeOf(left) < 9 && (name === '' || (own.length < 2 && sizeOf(own) < 6));
          expect(kept.hasRoom(name)).toBe(hasRoom);
        }
      }
    }),
  );
});
