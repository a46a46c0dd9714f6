import {
  booleanValue,
  checkOptions,
  eitherOf,
  numberIn,
  objectOf,
  type OptionCheck,
  type OptionChecks,
  wholeNumber,
} from '@quiver/core/internal';

/** Reason that connects two passages. `title` occurs in the paths of queries only: it leads from the query to a passage. */
export type EdgeKind = 'similarity' | 'phrase' | 'sequence' | 'link' | 'relation' | 'triple' | 'title';

/** Setting of an edge kind: on with `true` or options, off with `false`. */
export type EdgeChoice<Options> = boolean | Options;

/** Weight of one kind of edge. */
export interface EdgeWeight {
  /** Factor of the weights of these edges, compared with other kinds. */
  weight?: number;
}

/** Edges between chunks with similar vectors. */
export interface SimilarityEdgeOptions extends EdgeWeight {
  /** Most similar passages that a passage is connected with. Default 10. */
  neighbors?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
}

/** Edges between chunks that share names or phrases. */
export interface PhraseEdgeOptions extends EdgeWeight {
  /** Phrases in more passages than this connect nothing. Default 12. */
  maxPassages?: number;
}

/** Kinds of edges of a graph. An absent kind has its default. */
export interface EdgeOptions {
  /** Passages with similar vectors. Default on, weight 0.25. */
  similarity?: EdgeChoice<SimilarityEdgeOptions>;
  /** Passages that share rare names or mention each other's titles. Default on, weight 1. */
  phrases?: EdgeChoice<PhraseEdgeOptions>;
  /** Neighbors in the same source. Default on, weight 0.5. */
  sequence?: EdgeChoice<EdgeWeight>;
  /** Markdown and HTML links between sources. Default on, weight 0.5. */
  links?: EdgeChoice<EdgeWeight>;
  /** Relations in `metadata.relations`. Default on, weight 1. */
  relations?: EdgeChoice<EdgeWeight>;
  /** Statements about the same thing, see `extractTriples`. Default on, weight 1. */
  triples?: EdgeChoice<EdgeWeight>;
}

export interface ResolvedEdgeOptions {
  /** Factors by kind; 1 for a kind that is absent. */
  readonly weights: Readonly<Partial<Record<EdgeKind, number>>>;
  /** Options of the kind `similarity`; `undefined` when it is off. */
  readonly similarity: Required<Omit<SimilarityEdgeOptions, 'weight'>> | undefined;
  readonly phrases: Required<Omit<PhraseEdgeOptions, 'weight'>> | undefined;
}

const weight = numberIn({ above: 0 });
const choiceOf = <Options extends EdgeWeight>(checks: OptionChecks<Options>): OptionCheck =>
  eitherOf('true, false or an object', booleanValue, objectOf<Options>(checks));
const weightChoice = choiceOf<EdgeWeight>({ weight });

/** Accepts {@link EdgeOptions}. */
export const edgesValue: OptionCheck = objectOf<EdgeOptions>({
  similarity: choiceOf<SimilarityEdgeOptions>({
    weight,
    neighbors: wholeNumber(1),
    threshold: numberIn({ least: 0, most: 1 }),
  }),
  phrases: choiceOf<PhraseEdgeOptions>({ weight, maxPassages: numberIn({ least: 2 }) }),
  sequence: weightChoice,
  links: weightChoice,
  relations: weightChoice,
  triples: weightChoice,
});

/** @param options - checked by {@link edgesValue} */
export function resolveEdgeOptions(options: EdgeOptions = {}): ResolvedEdgeOptions {
  const weightOf = (name: keyof EdgeOptions, byDefault: number): number => {
    const { [name]: choice = true } = options;
    return typeof choice === 'object' ? (choice.weight ?? byDefault) : choice ? byDefault : 0;
  };
  const weights = {
    similarity: weightOf('similarity', 0.25),
    phrase: weightOf('phrases', 1),
    sequence: weightOf('sequence', 0.5),
    link: weightOf('links', 0.5),
    relation: weightOf('relations', 1),
    triple: weightOf('triples', 1),
  };
  const { neighbors = 10, threshold = 0.7 } = typeof options.similarity === 'object' ? options.similarity : {};
  const { maxPassages = 12 } = typeof options.phrases === 'object' ? options.phrases : {};
  return {
    weights,
    similarity: weights.similarity > 0 ? { neighbors, threshold } : undefined,
    phrases: weights.phrase > 0 ? { maxPassages } : undefined,
  };
}

/** Options of the graph of an index and of its ranking. */
export interface GraphOptions {
  /** Length of the embeddings, as a check. Default: the dimension of the index. */
  dimension?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
  /** Most rounds of the computation; it ends earlier when the ranks no longer change. Default 100. */
  randomWalkSteps?: number;
  /**
   * Probability of a walker to restart at the passages that match the query, above 0 and below 1. Default 0.15. Lower values prefer
   * passages with many edges.
   */
  restartProb?: number;
  /** Kinds of edges. Default: all kinds, with the weights of {@link EdgeOptions}. */
  edges?: EdgeOptions;
  /**
   * Largest number of passages in a graph. A larger index is explored from the passages that match the query; the report has
   * `complete: false` then. The time of a build grows with the square of the number. Default 20,000.
   */
  maxNodes?: number;
  /**
   * Passages of the graphs of a store that stay in memory after a call, at 1 to 3 KB each: the least recently used graphs are freed above it.
   * A small graph counts as 100. With 0 none stays, and each query reads or builds its graph. Default 250,000, or `maxNodes` if that is more.
   */
  maxCachedNodes?: number;
}

/** The walk of a query that sets nothing. */
export const defaultWalk = { randomWalkSteps: 100, restartProb: 0.15 } as const;

/** Checked options. */
export interface GraphSettings extends Required<Omit<GraphOptions, 'dimension' | 'threshold'>> {
  readonly dimension: number | undefined;
}

const graphOptionChecks: OptionChecks<{ graphOptions?: GraphOptions }> = {
  graphOptions: objectOf<GraphOptions>({
    dimension: wholeNumber(1),
    threshold: numberIn({ least: -1, most: 1 }),
    randomWalkSteps: numberIn({ least: 1 }),
    restartProb: numberIn({ above: 0, below: 1 }),
    edges: edgesValue,
    maxNodes: wholeNumber(0),
    maxCachedNodes: wholeNumber(0),
  }),
};

/**
 * @param name - function that received the options, for messages
 * @throws `OPTIONS_INVALID`
 */
export function parseGraphOptions(name: string, graphOptions: GraphOptions = {}): GraphSettings {
  checkOptions(name, { graphOptions }, graphOptionChecks);
  const { dimension, threshold, maxNodes = 20_000 } = graphOptions;
  const { maxCachedNodes = Math.max(250_000, maxNodes) } = graphOptions;
  const { randomWalkSteps = defaultWalk.randomWalkSteps, restartProb = defaultWalk.restartProb } = graphOptions;
  const { similarity } = graphOptions.edges ?? {};
  const near = typeof similarity === 'object' ? similarity : {};
  const edges =
    threshold === undefined || similarity === false
      ? (graphOptions.edges ?? {})
      : { ...graphOptions.edges, similarity: { threshold: Math.max(0, threshold), ...near } };
  return { dimension, randomWalkSteps: Math.floor(randomWalkSteps), restartProb, edges, maxNodes, maxCachedNodes };
}
