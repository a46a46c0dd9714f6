/** Members up to which a set has no index: comparing them one by one costs less than the garbage that an index keeps. */
const maxUnindexed = 2000;

/**
 * Set of what is in flight, in an array. A table of a `Set` or `Map` refers to the one that replaces it: once V8 has moved a table to its old
 * generation, it moves all members that come later there, with everything that belongs to their requests, until the next full collection.
 * Only a very large set has an index.
 */
export class ActiveSet<Member> {
  readonly #members: Member[] = [];
  readonly #keyOf: (member: Member) => unknown;
  /** Places of the members of a large set, by key. */
  #places: Map<unknown, number> | undefined;

  /** @param keyOf - returns what {@link find} finds a member by, which no two members share and which does not change. Default: the member */
  constructor(keyOf: (member: Member) => unknown = (member) => member) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#members.length;
  }

  has(member: Member): boolean {
    return this.#placeOf(member) !== -1;
  }

  find(key: unknown): Member | undefined {
    if (!this.#places) return this.#members.find((member) => this.#keyOf(member) === key);
    return this.#members[this.#places.get(key) ?? -1];
  }

  add(member: Member): void {
    const place = this.#members.push(member) - 1;
    if (this.#places) this.#places.set(this.#keyOf(member), place);
    else if (place >= maxUnindexed) this.#places = new Map(this.#members.map((each, at) => [this.#keyOf(each), at]));
  }

  delete(member: Member): void {
    const place = this.#placeOf(member);
    if (place === -1) return;
    const last = this.#members.pop() as Member;
    this.#places?.delete(this.#keyOf(member));
    if (last !== member) {
      this.#members[place] = last;
      this.#places?.set(this.#keyOf(last), place);
    }
    // At half the size: a set that grows and shrinks by one does not build its index each time.
    if (this.#members.length < maxUnindexed / 2) this.#places = undefined;
  }

  /** Iterates over a copy: members may leave while they are visited. */
  [Symbol.iterator](): IterableIterator<Member> {
    return [...this.#members].values();
  }

  #placeOf(member: Member): number {
    if (!this.#places) return this.#members.lastIndexOf(member);
    const place = this.#places.get(this.#keyOf(member)) ?? -1;
    return this.#members[place] === member ? place : -1;
  }
}
