import type { CompleteResult } from '../../protocol/client-types.js';
import type { ServerConnection } from '../server/server-connection.js';

export interface CompleteOptions {
  serverName: string;
  /** Prompt or resource template of the argument. */
  ref: { type: 'prompt'; name: string } | { type: 'resource'; uriTemplate: string };
  argument: { name: string; value: string };
  /** Values of other arguments. */
  context?: Record<string, string>;
  signal?: AbortSignal;
}

/** Returns at most 100 values; none from a server without completions. */
export async function complete(
  connection: ServerConnection,
  { ref, argument, context, signal }: Omit<CompleteOptions, 'serverName'>,
): Promise<CompleteResult['completion']> {
  return connection.request(
    async (engine, options) => {
      const { capabilities } = engine.server;
      if (capabilities && !capabilities.completions) return { values: [] };
      const { completion } = await engine.request(
        'completion/complete',
        {
          ref:
            ref.type === 'prompt'
              ? { type: 'ref/prompt', name: ref.name }
              : { type: 'ref/resource', uri: ref.uriTemplate },
          argument,
          ...(context && { context: { arguments: context } }),
        },
        options,
      );
      // The engine has checked the result.
      return completion as CompleteResult['completion'];
    },
    { signal, retries: 1 },
  );
}
