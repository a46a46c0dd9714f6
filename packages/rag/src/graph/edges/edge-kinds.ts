import { graphInvalid } from '../graph-error.js';

/** Why two passages are connected. */
export type EdgeKind = 'similarity' | 'phrase' | 'sequence' | 'link' | 'relation' | 'triple';

/** Of an edge kind: on with `true` or options, off with `false`. */
export type EdgeChoice<Options> = boolean | Options;

export interface EdgeShare {
  /** How much of the walker goes along edges of this kind, relative to the other kinds that a passage has. */
  share?: number;
}

export interface SimilarityEdgeOptions extends EdgeShare {
  /** Most similar passages that a passage is connected with. Default 10. */
  neighbours?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
  /**
   * Share of the true neighbours that an approximate search must find. Default 0.95. It is used for more than 20,000 passages;
   * 1 forces the exact search for any number.
   */
  recall?: number;
}

export interface PhraseEdgeOptions extends EdgeShare {
  /** Phrases in more passages than this connect nothing. Default 12. */
  maxPassages?: number;
}

/** Which edges a graph gets. What is absent stands for its default. */
export interface EdgeOptions {
  /** Passages that are like each other. Default on, share 0.25. */
  similarity?: EdgeChoice<SimilarityEdgeOptions>;
  /** Passages that share rare names or mention each other's titles. Default on, share 1. */
  phrases?: EdgeChoice<PhraseEdgeOptions>;
  /** Neighbours in the same source. Default on, share 0.5. */
  sequence?: EdgeChoice<EdgeShare>;
  /** Markdown and HTML links between sources. Default on, share 1. */
  links?: EdgeChoice<EdgeShare>;
  /** What `metadata.relations` says. Default on, share 2. */
  relations?: EdgeChoice<EdgeShare>;
  /** Statements about the same thing, see `extractTriples`. Default on, share 2. */
  triples?: EdgeChoice<EdgeShare>;
}

export interface ResolvedEdgeOptions {
  readonly shares: Readonly<Record<EdgeKind, number>>;
  /** Of the kind `similarity`; `undefined` when it is off. */
  readonly similarity: Required<Omit<SimilarityEdgeOptions, 'share'>> | undefined;
  readonly phrases: Required<Omit<PhraseEdgeOptions, 'share'>> | undefined;
}

/** @throws `GRAPH_INVALID` for numbers out of range */
export function resolveEdgeOptions(options: EdgeOptions = {}): ResolvedEdgeOptions {
  const similarity = read(options.similarity);
  const phrases = read(options.phrases);
  const resolved: ResolvedEdgeOptions = {
    shares: {
      similarity: shareOf(similarity, 0.25, 'similarity'),
      phrase: shareOf(phrases, 1, 'phrases'),
      sequence: shareOf(read(options.sequence), 0.5, 'sequence'),
      link: shareOf(read(options.links), 1, 'links'),
      relation: shareOf(read(options.relations), 2, 'relations'),
      triple: shareOf(read(options.triples), 2, 'triples'),
    },
    similarity: similarity && {
      neighbours: similarity.neighbours ?? 10,
      threshold: similarity.threshold ?? 0.7,
      recall: similarity.recall ?? 0.95,
    },
    phrases: phrases && { maxPassages: phrases.maxPassages ?? 12 },
  };
  if (resolved.similarity) {
    const { neighbours, threshold, recall } = resolved.similarity;
    requireRange(
      Number.isInteger(neighbours) && neighbours >= 1,
      'similarity.neighbours',
      'a positive integer',
      neighbours,
    );
    requireRange(threshold >= 0 && threshold <= 1, 'similarity.threshold', 'in [0, 1]', threshold);
    requireRange(recall > 0 && recall <= 1, 'similarity.recall', 'above 0, at most 1', recall);
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

function shareOf(options: EdgeShare | undefined, byDefault: number, name: keyof EdgeOptions): number {
  if (!options) return 0;
  const share = options.share ?? byDefault;
  requireRange(share > 0 && Number.isFinite(share), `${name}.share`, 'positive; false switches a kind off', share);
  return share;
}

function requireRange(holds: boolean, name: string, range: string, value: number): void {
  if (!holds) throw graphInvalid(`The option edges.${name} must be ${range}. It is ${value}.`);
}
