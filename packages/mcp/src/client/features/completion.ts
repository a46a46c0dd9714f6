import { anyValue, type OptionChecks } from '@quiver/core/options';
import type { CompleteResult } from '../../protocol/types.js';
import { requestChecks, type RequestOptions } from '../config/caller.js';
import type { RemoteServer } from '../server/remote-server.js';

/** Argument to complete, and the prompt or resource template that has it. */
export interface CompleteOptions extends RequestOptions {
  serverName: string;
  /** Prompt or resource template of the argument. */
  ref: { type: 'prompt'; name: string } | { type: 'resource'; uriTemplate: string };
  argument: { name: string; value: string };
  /** Values of other arguments. */
  context?: Record<string, string>;
}

export const completeChecks: OptionChecks<CompleteOptions> = {
  ...requestChecks,
  serverName: anyValue,
  ref: anyValue,
  argument: anyValue,
  context: anyValue,
};

/** Returns at most 100 values; none from a server without completions. */
export function complete(
  server: RemoteServer,
  { ref, argument, context, signal, requestContext }: Omit<CompleteOptions, 'serverName'>,
): Promise<CompleteResult['completion']> {
  const reference =
    ref.type === 'prompt' ? { type: 'ref/prompt', name: ref.name } : { type: 'ref/resource', uri: ref.uriTemplate };
  const params = { ref: reference, argument, ...(context && { context: { arguments: context } }) };
  return server.request(
    async (engine, options) => {
      const { capabilities } = engine.server;
      if (capabilities && !capabilities.completions) return { values: [] };
      const { completion } = await engine.request('completion/complete', params, options);
      // The engine has checked the result.
      return completion as CompleteResult['completion'];
    },
    { signal, requestContext, retries: 1 },
  );
}
