/** A result with the vector for comparisons with other results. */
export interface DiverseCandidate {
  readonly score: number;
  readonly vector?: ArrayLike<number>;
}

export interface MarginalRelevanceOptions {
  /** 1 looks at relevance alone, 0 at difference alone. */
  lambda: number;
  /** Results wanted. */
  topK: number;
}

/**
 * Chooses results one after another, each time the one with the largest `λ · score − (1 − λ) · similarity`, where similarity is the
 * cosine to the nearest result chosen before. Where that is equal, the earlier candidate wins; scores stay unchanged.
 *
 * @param candidates - best first; a candidate without a vector, or with a vector of zeros, is not similar to any other
 * @see Carbonell and Goldstein: The use of MMR, diversity-based reranking. SIGIR 1998. https://doi.org/10.1145/290941.291025
 */
export function maximalMarginalRelevance<Candidate extends DiverseCandidate>(
  candidates: readonly Candidate[],
  { lambda, topK }: MarginalRelevanceOptions,
): Candidate[] {
  const left = candidates.map((candidate) => ({
    candidate,
    direction: toDirection(candidate.vector),
    /** Similarity to the nearest result chosen so far; unknown before the first. */
    nearest: Number.NEGATIVE_INFINITY,
  }));
  const chosen: Candidate[] = [];
  while (chosen.length < topK && left.length > 0) {
    let best = 0;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (const [position, { candidate, nearest }] of left.entries()) {
      const value = lambda * candidate.score - (chosen.length === 0 ? 0 : (1 - lambda) * nearest);
      if (value <= bestValue) continue;
      best = position;
      bestValue = value;
    }
    const [taken] = left.splice(best, 1) as [(typeof left)[number]];
    chosen.push(taken.candidate);
    for (const other of left) other.nearest = Math.max(other.nearest, similarity(taken.direction, other.direction));
  }
  return chosen;
}

function toDirection(vector: ArrayLike<number> | undefined): Float64Array | undefined {
  const direction = Float64Array.from(vector ?? []);
  const length = Math.sqrt(direction.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? undefined : direction.map((value) => value / length);
}

function similarity(a: Float64Array | undefined, b: Float64Array | undefined): number {
  if (!a || !b) return 0;
  let sum = 0;
  for (let position = 0; position < a.length; position += 1) sum += (a[position] as number) * (b[position] as number);
  return sum;
}
