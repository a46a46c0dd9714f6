/** A statement of a text: who does what to whom. */
export interface Triple {
  subject: string;
  predicate: string;
  object: string;
}
