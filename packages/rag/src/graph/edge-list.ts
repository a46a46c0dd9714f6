const firstCapacity = 64;

/** Edges by column; kinds and reasons are numbers of texts. */
export interface EdgeColumns {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly weights: Float64Array;
  readonly kinds: Uint32Array;
  readonly reasons: Uint32Array;
  readonly kindNames: readonly string[];
  readonly reasonTexts: readonly string[];
}

/**
 * Edges between numbered nodes, as columns. An edge is stored once and walked in both directions; `from` and `to` keep the
 * direction in which it was found.
 */
export class EdgeList {
  #from: Uint32Array = new Uint32Array(firstCapacity);
  #to: Uint32Array = new Uint32Array(firstCapacity);
  #weights: Float64Array = new Float64Array(firstCapacity);
  #kinds: Uint32Array = new Uint32Array(firstCapacity);
  #reasons: Uint32Array = new Uint32Array(firstCapacity);
  readonly #kindNames = new NameTable();
  readonly #reasonTexts = new NameTable();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param weight - positive */
  add(from: number, to: number, weight: number, kind: string, reason: string): void {
    const edge = this.#count;
    if (edge === this.#from.length) this.#grow(edge * 2);
    this.#from[edge] = from;
    this.#to[edge] = to;
    this.#weights[edge] = weight;
    this.#kinds[edge] = this.#kindNames.number(kind);
    this.#reasons[edge] = this.#reasonTexts.number(reason);
    this.#count += 1;
  }

  from(edge: number): number {
    return this.#from[edge] as number;
  }

  to(edge: number): number {
    return this.#to[edge] as number;
  }

  weight(edge: number): number {
    return this.#weights[edge] as number;
  }

  kind(edge: number): string {
    return this.#kindNames.name(this.#kinds[edge] as number);
  }

  /** The number of an edge's kind in {@link EdgeList.kindNames}. */
  kindNumber(edge: number): number {
    return this.#kinds[edge] as number;
  }

  get kindNames(): readonly string[] {
    return this.#kindNames.names;
  }

  reason(edge: number): string {
    return this.#reasonTexts.name(this.#reasons[edge] as number);
  }

  copy(): EdgeList {
    return EdgeList.fromColumns(this.columns());
  }

  /** Returns views of the edges by column. They are valid until an edge is added. */
  columns(): EdgeColumns {
    const end = this.#count;
    return {
      from: this.#from.subarray(0, end),
      to: this.#to.subarray(0, end),
      weights: this.#weights.subarray(0, end),
      kinds: this.#kinds.subarray(0, end),
      reasons: this.#reasons.subarray(0, end),
      kindNames: this.#kindNames.names,
      reasonTexts: this.#reasonTexts.names,
    };
  }

  static fromColumns({ from, to, weights, kinds, reasons, kindNames, reasonTexts }: EdgeColumns): EdgeList {
    const edges = new EdgeList();
    edges.#grow(Math.max(firstCapacity, from.length));
    edges.#count = from.length;
    edges.#from.set(from);
    edges.#to.set(to);
    edges.#weights.set(weights);
    edges.#kinds.set(kinds);
    edges.#reasons.set(reasons);
    for (const name of kindNames) edges.#kindNames.number(name);
    for (const text of reasonTexts) edges.#reasonTexts.number(text);
    return edges;
  }

  #grow(capacity: number): void {
    this.#from = enlarge(this.#from, new Uint32Array(capacity));
    this.#to = enlarge(this.#to, new Uint32Array(capacity));
    this.#weights = enlarge(this.#weights, new Float64Array(capacity));
    this.#kinds = enlarge(this.#kinds, new Uint32Array(capacity));
    this.#reasons = enlarge(this.#reasons, new Uint32Array(capacity));
  }
}

class NameTable {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  name(number: number): string {
    return this.names[number] as string;
  }
}

function enlarge<Numbers extends Uint32Array | Float64Array>(numbers: Numbers, larger: Numbers): Numbers {
  larger.set(numbers);
  return larger;
}
