import { type OptionChecks, unchecked } from '@quiver/core/internal';
import type { Params } from '../../protocol/json-rpc.js';
import type { CompleteResult } from '../../protocol/types.js';
import { repeats } from '../../repeats.js';
import { requestChecks, type RequestOptions } from '../config/caller.js';
import type { RemoteServer } from '../remote/remote-server.js';

/** Argument to complete, and the prompt or resource template that has it. */
export interface CompleteOptions extends RequestOptions {
  /** Name of the server. */
  serverName: string;
  /** Prompt or resource template of the argument; the protocol's own references are accepted as well. */
  ref:
    | { type: 'prompt' | 'ref/prompt'; name: string }
    | { type: 'resource'; uriTemplate: string }
    | { type: 'ref/resource'; uri: string };
  /** Argument to complete, and the value so far. */
  argument: { name: string; value: string };
  /** Values of other arguments. */
  context?: Record<string, string>;
}

export const completeChecks: OptionChecks<CompleteOptions> = {
  ...requestChecks,
  ...unchecked<CompleteOptions>()('serverName', 'ref', 'argument', 'context'),
};

/** Returns at most 100 values; none from a server without completions. */
export function complete(
  server: RemoteServer,
  { ref, argument, context, signal, requestContext }: Omit<CompleteOptions, 'serverName'>,
): Promise<CompleteResult['completion']> {
  const params = { ref: toReference(ref), argument, ...(context && { context: { arguments: context } }) };
  return server.request(
    async (engine, options) => {
      const { capabilities } = engine.server;
      if (capabilities && !capabilities.completions) return { values: [] };
      const { completion } = await engine.request('completion/complete', params, options);
      // The engine has checked the result.
      return completion as CompleteResult['completion'];
    },
    { signal, requestContext, retries: repeats.lostConnection.ofReads },
  );
}

/** @throws `TypeError` for another type */
function toReference(ref: CompleteOptions['ref']): Params {
  if (ref.type === 'prompt') return { type: 'ref/prompt', name: ref.name };
  if (ref.type === 'resource') return { type: 'ref/resource', uri: ref.uriTemplate };
  if (ref.type === 'ref/prompt' || ref.type === 'ref/resource') return ref;
  throw new TypeError(`Invalid reference ${JSON.stringify(ref)}. Set its \`type\` to 'prompt' or 'resource'.`);
}
