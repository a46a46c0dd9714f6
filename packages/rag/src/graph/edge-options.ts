import { graphInvalid } from './graph-error.js';

/** Reason that connects two passages. */
export type EdgeKind = 'similarity' | 'phrase' | 'sequence' | 'link' | 'relation' | 'triple';

/** Setting of an edge kind: on with `true` or options, off with `false`. */
export type EdgeChoice<Options> = boolean | Options;

export interface EdgeWeight {
  /** Factor of the weights of these edges, compared with other kinds. */
  weight?: number;
}

export interface SimilarityEdgeOptions extends EdgeWeight {
  /** Most similar passages that a passage is connected with. Default 10. */
  neighbors?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
}

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

/** @throws `GRAPH_INVALID` for numbers out of range */
export function resolveEdgeOptions(options: EdgeOptions = {}): ResolvedEdgeOptions {
  const similarity = read(options.similarity);
  const phrases = read(options.phrases);
  const resolved: ResolvedEdgeOptions = {
    weights: {
      similarity: weightOf(similarity, 0.25, 'similarity'),
      phrase: weightOf(phrases, 1, 'phrases'),
      sequence: weightOf(read(options.sequence), 0.5, 'sequence'),
      link: weightOf(read(options.links), 0.5, 'links'),
      relation: weightOf(read(options.relations), 1, 'relations'),
      triple: weightOf(read(options.triples), 1, 'triples'),
    },
    similarity: similarity && {
      neighbors: similarity.neighbors ?? 10,
      threshold: similarity.threshold ?? 0.7,
    },
    phrases: phrases && { maxPassages: phrases.maxPassages ?? 12 },
  };
  if (resolved.similarity) {
    const { neighbors, threshold } = resolved.similarity;
    requireRange(
      Number.isInteger(neighbors) && neighbors >= 1,
      'similarity.neighbors',
      'a positive integer',
      neighbors,
    );
    requireRange(threshold >= 0 && threshold <= 1, 'similarity.threshold', 'in [0, 1]', threshold);
  }
  if (resolved.phrases) {
    const { maxPassages } = resolved.phrases;
    requireRange(maxPassages >= 2, 'phrases.maxPassages', 'at least 2', maxPassages);
  }
  return resolved;
}

function read<Options extends object>(choice: EdgeChoice<Options> | undefined): Partial<Options> | undefined {
  if (choice === false) return undefined;
  return typeof choice === 'object' ? choice : {};
}

function weightOf(options: EdgeWeight | undefined, byDefault: number, name: keyof EdgeOptions): number {
  if (!options) return 0;
  const weight = options.weight ?? byDefault;
  requireRange(weight > 0 && Number.isFinite(weight), `${name}.weight`, 'positive; false switches a kind off', weight);
  return weight;
}

function requireRange(holds: boolean, name: string, range: string, value: number): void {
  if (!holds) throw graphInvalid(`The option edges.${name} must be ${range}. It is ${value}.`);
}
