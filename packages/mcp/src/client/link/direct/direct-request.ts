import type { RequestOptions } from '../../../protocol/client-types.js';
import { isObject, type Params } from '../../../protocol/json-rpc.js';
import type { Answer } from './answer.js';
import type { DirectChannel } from './direct-channel.js';
import type { Handovers } from './handovers.js';

export interface DirectRequest<Result> {
  readonly method: string;
  readonly params: Params;
  /** What the request names, for the header that repeats it. */
  readonly name?: string;
  /** Whether nothing but a plain request is needed. Default `true`. */
  readonly isDirect?: boolean;
  /** @returns `undefined` for a result that is not plain */
  readonly parse: (result: Params) => Result | undefined;
  /** The same request through the SDK. */
  readonly viaSdk: (options: RequestOptions, answer: Answer | undefined) => Promise<Result>;
}

/**
 * Sends a request past the SDK, which costs a fraction, and parses a plain result. Whatever else comes back (an error, questions, a
 * stream that can be resumed, a result in need of a closer look) is given to the SDK, as if it had sent the request.
 */
export async function requestDirectly<Result>(
  link: { readonly direct: DirectChannel | undefined; readonly handovers: Handovers },
  { method, params, name, isDirect = true, parse, viaSdk }: DirectRequest<Result>,
  options: RequestOptions,
): Promise<Result> {
  const { direct } = link;
  if (!isDirect || !direct?.isOpen) return viaSdk(options, undefined);
  const started = Date.now();
  const { id, answer, cancel } = await direct.request(method, params, options, name);
  const result = answer.kind === 'message' && answer.message['result'];
  const parsed = isObject(result) ? parse(result) : undefined;
  if (parsed !== undefined) return parsed;
  const { handovers } = link;
  const headers = handovers.offer(id, answer);
  const { timeout, signal } = options;
  const left = timeout === undefined ? undefined : Math.max(1, timeout - (Date.now() - started));
  try {
    return await viaSdk({ ...options, headers, ...(left !== undefined && { timeout: left }) }, answer);
  } finally {
    const isUnread = handovers.forget(id) && answer.kind === 'response' && answer.text === undefined;
    if (isUnread) cancel(String(signal?.reason ?? 'nobody waits for it'));
  }
}
