import { isQuiverError } from '@quiver/core';
import type { IndexShape } from '../../store/index-options.js';

/** What an index is asked for by, and where. */
export interface LocatedShape extends IndexShape {
  readonly host: string;
}

/** What is known of indexes: it saves each call the question for host and dimension. */
export interface KnownShapes {
  /**
   * Works with what is known of an index. Another process can have deleted it or made it anew, so work that fails is repeated when the
   * service says something else now. It must be such that it can be repeated.
   *
   * @param find - asks the service; throws when there is no such index
   */
  use<Result>(
    indexName: string,
    find: () => Promise<LocatedShape>,
    work: (shape: LocatedShape) => Promise<Result>,
  ): Promise<Result>;
  forget(indexName: string): void;
}

/** An index that was made anew with another metric fails at nothing, so what is known must not be older, in milliseconds. */
const longestAge = 60_000;

/** @param now - a clock that never goes back, in milliseconds */
export function knownShapes(now: () => number): KnownShapes {
  const known = new Map<string, { shape: LocatedShape; at: number }>();
  return {
    async use(indexName, find, work) {
      const ask = async (): Promise<LocatedShape> => {
        const at = now();
        const shape = await find();
        known.set(indexName, { shape, at });
        return shape;
      };
      const remembered = known.get(indexName);
      if (!remembered || now() - remembered.at > longestAge) return work(await ask());
      const { shape } = remembered;
      try {
        return await work(shape);
      } catch (error) {
        if (isQuiverError(error) && error.code !== 'VECTOR_DIMENSION_MISMATCH') throw error;
        known.delete(indexName);
        const current = await ask();
        if (isSame(current, shape)) throw error;
        return work(current);
      }
    },
    forget: (indexName) => void known.delete(indexName),
  };
}

function isSame(a: LocatedShape, b: LocatedShape): boolean {
  return a.host === b.host && a.dimension === b.dimension && a.metric === b.metric;
}
