/** For each row its most similar rows, best first; of equal ones the smaller number is first. */
export interface NeighbourLists {
  /** The most that a row has. */
  readonly limit: number;
  /** How many each row has. */
  readonly counts: Uint32Array;
  /** Those of row `r` stand from `r * limit` on. */
  readonly rows: Uint32Array;
  readonly similarities: Float32Array;
}

export interface FoundNeighbours {
  readonly lists: NeighbourLists;
  /** Share of the true neighbours that was found: 1 when the search was exact, otherwise measured on a sample. */
  readonly recall: number;
}

export function createNeighbourLists(count: number, limit: number): NeighbourLists {
  return {
    limit,
    counts: new Uint32Array(count),
    rows: new Uint32Array(count * limit),
    similarities: new Float32Array(count * limit),
  };
}

/** Puts a neighbour in its place, unless the list is full of better ones. A neighbour must be offered once only. */
export function offerNeighbour(lists: NeighbourLists, row: number, neighbour: number, similarity: number): void {
  const { limit, counts, rows, similarities } = lists;
  const start = row * limit;
  const count = counts[row] as number;
  let place = start + count;
  while (place > start) {
    const other = similarities[place - 1] as number;
    if (other > similarity || (other === similarity && (rows[place - 1] as number) < neighbour)) break;
    place -= 1;
  }
  if (place === start + limit) return;
  const kept = Math.min(count, limit - 1);
  rows.copyWithin(place + 1, place, start + kept);
  similarities.copyWithin(place + 1, place, start + kept);
  rows[place] = neighbour;
  similarities[place] = similarity;
  counts[row] = kept + 1;
}
