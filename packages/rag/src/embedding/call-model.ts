import { QuiverError, traceChannels, untilAborted, type EmbeddingTraceEvent } from '@quiver/core';

/** Runs a task as soon as fewer tasks than the limit are running. */
export type Limit = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** Creates a limit that all callers share. Tasks wait in the order of their calls. */
export function createLimit(limit: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      // The next task takes over, so that no other task starts in between.
      if (next) next();
      else running -= 1;
    }
  };
}

const firstDelay = 500;
const maxDelay = 60_000;

export interface RetryOptions {
  /** Attempts after the first. Default 2, as in the AI SDK. */
  maxRetries?: number | undefined;
  /** Whether an error is transient. Default: its property `isRetryable`, as in the AI SDK. */
  isTransient?: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Retries after transient errors: after half a second, one second and so on, at most a minute, or after the time that the server
 * requests.
 *
 * @throws the last error; the abort reason
 */
export async function retry<Result>(
  run: () => PromiseLike<Result>,
  { maxRetries = 2, isTransient = isRetryable, signal }: RetryOptions = {},
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(attempt < maxRetries) || !isTransient(error)) throw error;
      await sleep(requestedDelay(error) ?? Math.min(firstDelay * 2 ** attempt, maxDelay), signal);
    }
  }
}

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { isRetryable?: unknown }).isRetryable === true;
}

/** From `retry-after-ms` or `retry-after` in seconds. A server that asks for more than a minute is not waited for any longer. */
function requestedDelay(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { responseHeaders: headers } = error as { responseHeaders?: Record<string, string | undefined> };
  const milliseconds = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  const delay = Number.isNaN(milliseconds) ? seconds * 1000 : milliseconds;
  return Number.isNaN(delay) || delay < 0 ? undefined : Math.min(delay, maxDelay);
}

/** @throws the abort reason */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pass = (): Promise<void> => new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return untilAborted(pass, signal).finally(() => clearTimeout(timer));
}

/**
 * Checks the result of an embedding model, and returns its vectors.
 *
 * @param dimension - the length that is expected, if it is known
 * @throws `EMBEDDING_INVALID` for another number of vectors than texts, another dimension, and anything but finite numbers
 */
export function checkEmbeddings(
  embeddings: unknown,
  { id, count, dimension }: { id: string; count: number; dimension: number | undefined },
): Float32Array[] {
  if (!Array.isArray(embeddings) || embeddings.length !== count) {
    const got = Array.isArray(embeddings) ? `${embeddings.length} vectors` : 'no list of vectors';
    throw invalid(`The embedding model ${id} was given ${count} texts and answered with ${got}.`);
  }
  let expected = dimension;
  return embeddings.map((values: ArrayLike<number> | null | undefined, index) => {
    const isCopied = values instanceof Float32Array;
    const vector = isCopied ? values.slice() : Float32Array.from(values ?? []);
    expected ??= vector.length;
    if (vector.length !== expected || expected === 0) {
      throw invalid(
        `The embedding model ${id} gave a vector of ${vector.length} numbers where ${expected} were expected.`,
      );
    }
    // Checks the original values too: `null`, which JSON writes for NaN, has become 0.
    if (!vector.every((value, place) => Number.isFinite(value) && (isCopied || typeof values?.[place] === 'number'))) {
      throw invalid(
        `The embedding model ${id} gave a vector (number ${index} of ${count}) with values that are not finite numbers.`,
      );
    }
    return vector;
  });
}

function invalid(message: string): QuiverError {
  return new QuiverError('EMBEDDING_INVALID', `${message} The result was discarded.`);
}

const channel = traceChannels['quiver:embedding'];

/**
 * Runs a call of an embedder, and publishes it.
 *
 * @param model - id of the embedder
 * @param run - receives the event, if there is one, for the number of tokens
 */
export function traceEmbedding(
  model: string,
  texts: readonly string[],
  run: (event?: EmbeddingTraceEvent) => Promise<Float32Array[]>,
): Promise<Float32Array[]> {
  if (!channel.isActive || texts.length === 0) return run();
  const event: EmbeddingTraceEvent = { type: 'embedding', model, texts };
  return channel.trace(event, async () => {
    const vectors = await run(event);
    event.dimension = vectors[0]?.length;
    return vectors;
  });
}
