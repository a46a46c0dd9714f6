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

export function resolveEdgeOptions(options: EdgeOptions = {}): ResolvedEdgeOptions {
  const { similarity, phrases, sequence, links, relations, triples } = options;
  const near = read(similarity);
  const named = read(phrases);
  return {
    shares: {
      similarity: near ? (near.share ?? 0.25) : 0,
      phrase: named ? (named.share ?? 1) : 0,
      sequence: shareOf(sequence, 0.5),
      link: shareOf(links, 1),
      relation: shareOf(relations, 2),
      triple: shareOf(triples, 2),
    },
    similarity: near && {
      neighbours: near.neighbours ?? 10,
      threshold: near.threshold ?? 0.7,
      recall: near.recall ?? 0.95,
    },
    phrases: named && { maxPassages: named.maxPassages ?? 12 },
  };
}

function read<Options extends object>(choice: EdgeChoice<Options> | undefined): Partial<Options> | undefined {
  if (choice === false) return undefined;
  return typeof choice === 'object' ? choice : {};
}

function shareOf(choice: EdgeChoice<EdgeShare> | undefined, share: number): number {
  const options = read(choice);
  return options ? (options.share ?? share) : 0;
}
