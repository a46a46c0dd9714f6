import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { Result } from '../../content.js';
import { refuseResult, runCallback } from '../failures.js';
import { providerOf } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { MAX_COMPLETION_VALUES } from '../limits.js';
import { requireVisiblePrompt } from './prompts.js';
import { findVisibleTemplate } from './resources.js';

/**
 * Answers `completion/complete`: suggestions for an argument of a prompt or a variable of a resource template.
 *
 * @throws ProtocolError -32602
 */
export async function complete(request: ServerRequest): Promise<Result> {
  const { params, server } = request;
  const { ref, argument, context } = params ?? {};
  if (!isObject(ref) || !isObject(argument)) throw invalidParams('completion/complete needs ref and argument.');
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string')
    throw invalidParams('The argument of completion/complete needs name and value, both strings.');
  const given = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
  const resolved = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const asked = { value, resolved: Object.fromEntries(resolved), ...request.callbackContext };
  const suggest = async (): Promise<unknown> => {
    const { type, name: prompt, uri: uriTemplate } = ref;
    if (type === 'ref/prompt' && typeof prompt === 'string') {
      const found = await requireVisiblePrompt(request, prompt);
      const provider = found && providerOf(server, found);
      if (provider) return provider.answer(request, found);
      return server.prompts?.completeArgument?.({ name: prompt, argument: name, ...asked });
    }
    if (type === 'ref/resource' && typeof uriTemplate === 'string') {
      const template = await findVisibleTemplate(request, uriTemplate);
      if (!template) return undefined;
      const provider = providerOf(server, template);
      if (provider) return provider.answer(request, template);
      return server.resources?.completeVariable?.({ uriTemplate, variable: name, ...asked });
    }
    throw invalidParams('completion/complete needs a ref of type ref/prompt with a name, or ref/resource with a uri.');
  };
  const all = await runCallback(server, `Completing ${name}`, async () => {
    const values = (await suggest()) ?? undefined;
    if (values === undefined || values instanceof Result) return values;
    const isValid = Array.isArray(values) && values.every((text) => typeof text === 'string');
    return isValid ? values : refuseResult('The completion callback', 'an array of strings');
  });
  if (all instanceof Result) return all;
  const completion = {
    values: all?.slice(0, MAX_COMPLETION_VALUES) ?? [],
    total: all?.length,
    hasMore: all !== undefined && all.length > MAX_COMPLETION_VALUES,
  };
  return Result.of({ completion });
}
