import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY, RequestContext } from './index.js';

describe('RequestContext', () => {
  it('behaves like the Map that got the same calls', () => {
    const call = fc.oneof(
      fc.tuple(fc.constant('set' as const), fc.string(), fc.anything()),
      fc.tuple(fc.constant('delete' as const), fc.string(), fc.constant(undefined)),
    );
    fc.assert(
      fc.property(fc.array(call), (calls) => {
        const context = new RequestContext();
        const map = new Map<string, unknown>();
        for (const [method, key, value] of calls) {
          const results =
            method === 'set'
              ? [context.set(key, value) === context, map.set(key, value) === map]
              : [context.delete(key), map.delete(key)];
          expect(results[0]).toBe(results[1]);
        }
        expect([...context.entries()]).toEqual([...map.entries()]);
        expect([...context.keys()]).toEqual([...map.keys()]);
        expect([...context.values()]).toEqual([...map.values()]);
        expect([...context]).toEqual([...map]);
        expect(context.size()).toBe(map.size);
        for (const key of map.keys()) {
          expect(context.has(key)).toBe(true);
          expect(context.get(key)).toBe(map.get(key));
        }
      }),
    );
  });

  it('calls forEach with value, key and map', () => {
    const seen: unknown[] = [];
    new RequestContext([['a', 1]]).forEach((value, key, map) => seen.push([value, key, map.size]));
    expect(seen).toEqual([[1, 'a', 1]]);
  });

  it('forgets everything on clear', () => {
    const context = new RequestContext([['a', 1]]);
    context.clear();
    expect(context.size()).toBe(0);
    expect(context.get('a')).toBeUndefined();
  });

  it('shows all values as one object', () => {
    const client = { query: () => 1 };
    expect(new RequestContext<{ a: number }>([['a', 1]]).set('client', client).all).toEqual({ a: 1, client });
  });

  it('keeps keys of others under the raw methods too, as agents of Mastra expect', () => {
    const context = new RequestContext<{ a: number }>([['a', 1]]);
    context.setRaw('mastra__versions', 2);
    expect([context.hasRaw('a'), context.getRaw('a'), context.getRaw('mastra__versions')]).toEqual([true, 1, 2]);
    expect(context.deleteRaw('mastra__versions')).toBe(true);
    expect(context.size()).toBe(1);
  });

  it('starts with the values of an object, a Map, pairs or another context, and is independent of it', () => {
    const other = new RequestContext({ a: 1 });
    for (const values of [{ a: 1 }, new Map([['a', 1]]), [['a', 1]] as const, other])
      expect([...new RequestContext(values)]).toEqual([['a', 1]]);
    new RequestContext(other).set('a', 2);
    expect(other.get('a')).toBe(1);
    expect(new RequestContext({}).size()).toBe(0);
  });

  it('keeps hostile keys apart from the prototype', () => {
    const context = new RequestContext().set('__proto__', { polluted: true }).set('constructor', 1);
    expect(context.get('__proto__')).toEqual({ polluted: true });
    expect(Object.hasOwn(context.toJSON(), '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(new RequestContext().get('toString')).toBeUndefined();
  });

  it('reserves the keys of memory', () => {
    expect([MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY]).toEqual(['mastra__resourceId', 'mastra__threadId']);
  });
});

describe('RequestContext as JSON', () => {
  it('leaves out what JSON cannot carry', () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const context = new RequestContext()
      .set('text', 'x')
      .set('function', () => 1)
      .set('symbol', Symbol('s'))
      .set('circular', circular)
      .set('big', 1n)
      .set('undefined', undefined)
      .set('throws', {
        toJSON() {
          throw new Error('no');
        },
      });
    expect(JSON.parse(JSON.stringify(context))).toEqual({ text: 'x' });
  });

  it('leaves out a value that refers to half the program, without visiting it', () => {
    let visits = 0;
    const large = Array.from({ length: 200_000 }, () => ({
      get item() {
        visits += 1;
        return visits;
      },
    }));
    const connection = { pools: [{ large: large.slice(0, 5000) }, { large: large.slice(0, 9000) }] };
    const context = new RequestContext().set('large', large).set('connection', connection).set('a', 1);
    expect(context.toJSON()).toEqual({ a: 1 });
    expect(visits).toBeLessThan(20_000);
  });

  it('leaves out contexts that refer to each other', () => {
    const [first, second] = [new RequestContext({ a: 1 }), new RequestContext({ b: 2 })];
    first.set('second', second);
    second.set('first', first);
    expect(JSON.stringify([first, second])).toBe('[{"a":1},{"b":2}]');
  });

  it('includes a context inside a context, without the values that it leaves out itself', () => {
    const inner = new RequestContext({ b: 2, run: () => 1, big: 1n });
    expect(JSON.stringify(new RequestContext({ a: 1, inner }))).toBe('{"a":1,"inner":{"b":2}}');
  });

  it('leaves out a map of another library whose JSON holds a bigint', () => {
    const map = new Map([['a', 1n]]);
    const foreign = {
      get: (key: string) => map.get(key),
      set: (key: string, value: bigint) => map.set(key, value),
      values: () => map.values(),
      toJSON: () => Object.fromEntries(map),
    };
    expect(JSON.stringify(new RequestContext({ foreign, a: 1 }))).toBe('{"a":1}');
  });

  it('bounds the traversal of contexts that share contexts', () => {
    let visits = 0;
    let shared = new RequestContext({
      leaf: {
        toJSON: () => {
          visits += 1;
          return {};
        },
      },
    });
    for (let level = 0; level < 30; level += 1) shared = new RequestContext({ left: shared, right: shared });
    expect(new RequestContext({ shared, a: 1 }).toJSON()).toEqual({ a: 1 });
    expect(visits).toBeLessThan(10_000);
  });

  it('leaves out a large typed array without reading it', () => {
    const index = new Proxy(new Float64Array(8_000_000), {
      get: () => {
        throw new Error('read');
      },
    });
    const context = new RequestContext({ index, vector: new Float32Array(8_000_000), small: new Uint8Array(2) });
    expect(Object.keys(context.toJSON())).toEqual(['small']);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.anything({ withBigInt: true, withMap: true }))), (entries) => {
        expect(() => JSON.stringify(new RequestContext(entries))).not.toThrow();
      }),
    );
  });
});
