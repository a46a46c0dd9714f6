/**
 * Set of what is in flight. A table of a `Set` or `Map` refers to the one that replaces it: once V8 has moved a table to its old generation,
 * it moves all members that come later there, with everything that belongs to their requests, until the next full collection.
 */
export class ActiveSet<Member> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: Member): boolean {
    return this.#members.includes(member);
  }

  find(isWanted: (member: Member) => boolean): Member | undefined {
    return this.#members.find(isWanted);
  }

  add(member: Member): void {
    this.#members.push(member);
  }

  delete(member: Member): void {
    const at = this.#members.lastIndexOf(member);
    if (at === -1) return;
    const last = this.#members.pop() as Member;
    if (last !== member) this.#members[at] = last;
  }

  /** Iterates over a copy: members may leave while they are visited. */
  [Symbol.iterator](): IterableIterator<Member> {
    return [...this.#members].values();
  }
}
