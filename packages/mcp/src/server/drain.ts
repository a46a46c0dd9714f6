/** Work that the server is doing for a client. */
export interface InFlight {
  cancel(): void;
  /** Lets a request end that has no end of its own. */
  release(): void;
}

/** Releases the work of a transport that ends. Settles when none is left, or after the timeout. */
export async function drain(inFlight: ReadonlySet<InFlight>, milliseconds: number): Promise<void> {
  for (const work of inFlight) work.release();
  await untilEmpty(inFlight, milliseconds);
}

/** Settles when a collection is empty, or after the timeout. */
export async function untilEmpty(collection: { readonly size: number }, milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (collection.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
}
