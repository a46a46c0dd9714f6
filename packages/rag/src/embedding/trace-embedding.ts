import { traceChannels, type EmbeddingTraceEvent } from '@quiver/core';

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
