import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { EncodedResult } from '../../content.js';
import { refuseResult, runCallback } from '../failures.js';
import type { ServerRequest } from '../request.js';
import { MAX_COMPLETION_VALUES } from '../limits.js';

interface ParsedCompletion {
  readonly ref: Record<string, unknown>;
  readonly name: string;
  readonly value: string;
  readonly resolved: Record<string, string>;
}

/**
 * Answers `completion/complete`: suggestions for an argument of a prompt or a variable of a resource template.
 *
 * @throws ProtocolError -32602
 */
export async function complete(request: ServerRequest): Promise<EncodedResult> {
  const parsed = parseCompletion(request.params);
  const all = await runCallback(request.server, `Completing ${parsed.name}`, async () => {
    const values = await suggest(request, parsed);
    const isValid = Array.isArray(values) && values.every((value) => typeof value === 'string');
    return isValid ? values : refuseResult('The completion callback', 'an array of strings');
  });
  const completion = {
    values: all.slice(0, MAX_COMPLETION_VALUES),
    total: all.length,
    hasMore: all.length > MAX_COMPLETION_VALUES,
  };
  return { members: `"completion":${JSON.stringify(completion)}` };
}

async function suggest(
  { server: { prompts, resources }, callbackContext: context }: ServerRequest,
  { ref, name, value, resolved }: ParsedCompletion,
): Promise<unknown> {
  if (ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string') {
    return (
      (await prompts?.completeArgument?.({ name: ref['name'], argument: name, value, resolved, ...context })) ?? []
    );
  }
  if (ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string') {
    const { uri: uriTemplate } = ref;
    return (await resources?.completeVariable?.({ uriTemplate, variable: name, value, resolved, ...context })) ?? [];
  }
  throw invalidParams('completion/complete needs a ref of type ref/prompt with a name, or ref/resource with a uri.');
}

function parseCompletion(params: Params | undefined): ParsedCompletion {
  const { ref, argument, context } = params ?? {};
  if (!isObject(ref) || !isObject(argument)) throw invalidParams('completion/complete needs ref and argument.');
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string')
    throw invalidParams('The argument of completion/complete needs name and value, both strings.');
  const given = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
  const resolved = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { ref, name, value, resolved: Object.fromEntries(resolved) };
}
