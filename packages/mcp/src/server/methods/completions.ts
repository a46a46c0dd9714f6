import { Result } from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { runCallback } from '../failures.js';
import { MAX_COMPLETION_VALUES } from '../limits.js';
import { providerOf } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { requireVisiblePrompt } from './prompts.js';
import { findVisibleTemplate } from './resources.js';

/** Request for suggestions: for an argument of a prompt, or a variable of a resource template. */
type Completion = { readonly name: string; readonly value: string; readonly resolved: Record<string, string> } & (
  | { readonly prompt: string; readonly uriTemplate?: undefined }
  | { readonly prompt?: undefined; readonly uriTemplate: string }
);

/**
 * Answers `completion/complete`.
 *
 * @throws ProtocolError -32602
 */
export async function complete(request: ServerRequest): Promise<Result> {
  const { prompt, uriTemplate, name } = parseCompletion(request);
  return runCallback(request.server, `Completing ${name}`, async () => {
    const item =
      prompt === undefined
        ? await findVisibleTemplate(request, uriTemplate)
        : await requireVisiblePrompt(request, prompt);
    return item ? providerOf(request.server, item).answer(request, item) : toCompletion();
  });
}

/** @throws ProtocolError -32602 */
export function parseCompletion({ params }: ServerRequest): Completion {
  const { ref, argument, context } = params ?? {};
  if (!isObject(ref) || !isObject(argument)) throw invalidParams('completion/complete needs ref and argument.');
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string')
    throw invalidParams('The argument of completion/complete needs name and value, both strings.');
  const given = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
  const resolved = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const asked = { name, value, resolved: Object.fromEntries(resolved) };
  const { type, name: prompt, uri: uriTemplate } = ref;
  if (type === 'ref/prompt' && typeof prompt === 'string') return { ...asked, prompt };
  if (type === 'ref/resource' && typeof uriTemplate === 'string') return { ...asked, uriTemplate };
  throw invalidParams('completion/complete needs a ref of type ref/prompt with a name, or ref/resource with a uri.');
}

/** Returns the result of a completion. @param all - every suggestion; `undefined` for an argument without any */
export function toCompletion(all?: readonly string[]): Result {
  const values = all?.slice(0, MAX_COMPLETION_VALUES) ?? [];
  return Result.of({ completion: { values, total: all?.length, hasMore: values.length < (all?.length ?? 0) } });
}
