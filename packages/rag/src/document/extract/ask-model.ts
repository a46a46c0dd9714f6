import { QuiverError, toErrorMessage } from '@quiver/core';
import { toModelSchema, validate, type Schema } from '@quiver/core/schema';
import { createLimit } from '../../requests/limit.js';
import { retry } from '../../requests/retry.js';
import type { AnswerCache, ExtractParams, LanguageModelInput } from './extract-options.js';

export interface ModelRequest {
  llm: LanguageModelInput;
  /** Instructions that take precedence over the prompt. Default: none. */
  system?: string;
  prompt: string;
  /** Default: that of the model. */
  temperature?: number;
  signal: AbortSignal | undefined;
}

/**
 * Calls a language model, and retries after transient errors.
 *
 * @throws `EXTRACT_ANSWER_INVALID` for an empty answer; what the model throws
 */
export async function askForText(request: ModelRequest): Promise<string> {
  const text = (await ask(request)).trim();
  if (text === '') throw new QuiverError('EXTRACT_ANSWER_INVALID', 'The model answered with an empty text.');
  return text;
}

/**
 * Requests JSON for a schema, and validates it.
 *
 * @throws `EXTRACT_ANSWER_INVALID` for anything else; what the model throws
 */
export async function askForObject(request: ModelRequest, schema: Schema): Promise<unknown> {
  const result = await validate(schema, await askForJson(request, schema));
  if (result.ok) return result.value;
  const issues = result.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model does not match the schema: ${issues}`);
}

/**
 * Requests JSON for a schema, which the answer need not match.
 *
 * @throws `EXTRACT_ANSWER_INVALID` for an answer that is not JSON; what the model throws
 */
export async function askForJson(request: ModelRequest, schema: Schema): Promise<unknown> {
  return parseAnswer(await ask(request, { type: 'json', schema: toModelSchema(schema) }));
}

interface CachedRequest extends ModelRequest {
  cache: AnswerCache | undefined;
  key: string;
  /** Throws for an answer that is not accepted. The model gets one more attempt, and sees the problem. */
  check?: ((answer: unknown) => void) | undefined;
  onCall?: () => void;
}

const maxAttempts = 2;

/**
 * Returns the cached answer if it matches the schema and is accepted. Otherwise requests one, and caches it once it is accepted: a
 * rejected one would fail in every run.
 *
 * @throws as {@link askForObject}; the error of `check`
 */
export async function askCached(request: CachedRequest, schema: Schema): Promise<unknown> {
  const { cache, key, prompt, check, onCall } = request;
  const known = cache && (await validate(schema, await cache.get(key)));
  if (known?.ok && problemOf(known.value, check) === undefined) return known.value;
  let correction = '';
  for (let attempt = 1; ; attempt++) {
    const answer = await askForObject({ ...request, prompt: prompt + correction }, schema);
    onCall?.();
    const problem = problemOf(answer, check);
    if (problem === undefined) {
      await cache?.set(key, answer);
      return answer;
    }
    if (attempt === maxAttempts) throw problem;
    correction = `\n\nYour answer ${JSON.stringify(answer)} was rejected: ${problem.message}`;
  }
}

function problemOf(answer: unknown, check: CachedRequest['check']): Error | undefined {
  try {
    check?.(answer);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/**
 * Calls a model for each item, a few at a time. A failed call does not affect the others.
 *
 * @returns the answers in the order of the items, `undefined` where the call failed, and the failures
 * @throws the abort reason
 */
export async function askAll<Item, Answer, Failure>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
  toFailure: (item: Item, error: unknown) => Failure,
  { concurrency = 4, signal, onProgress, onFailure }: AskAllOptions<Failure>,
): Promise<{ answers: (Answer | undefined)[]; failures: Failure[] }> {
  let done = 0;
  const failures: Failure[] = [];
  const run = async (item: Item): Promise<Answer | undefined> => {
    signal?.throwIfAborted();
    const answer = await ask(item).catch((error: unknown) => {
      signal?.throwIfAborted();
      const failure = toFailure(item, error);
      failures.push(failure);
      onFailure?.(failure);
      return undefined;
    });
    done += 1;
    onProgress?.({ done, total: items.length });
    return answer;
  };
  signal?.throwIfAborted();
  const limit = createLimit(concurrency);
  return { answers: await Promise.all(items.map((item) => limit(() => run(item)))), failures };
}

type AskAllOptions<Failure> = Pick<ExtractParams, 'concurrency' | 'signal' | 'onProgress'> & {
  onFailure?: (failure: Failure) => void;
};

/** Names the first failures, and the number of the others. */
export function describeFailures<Failure extends { readonly error: unknown }>(
  failures: readonly Failure[],
  nameOf: (failure: Failure) => string,
): string {
  const named = failures.slice(0, 5).map((failure) => `${nameOf(failure)}: ${toErrorMessage(failure.error)}`);
  return [...named, ...(failures.length > 5 ? [`and ${failures.length - 5} more`] : [])].join('; ');
}

/** Fields of a result that are read. They are the same in the specification versions v2, v3 and v4. */
interface Answer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

async function ask(request: ModelRequest, responseFormat?: object): Promise<string> {
  const { llm, system, prompt, temperature, signal } = request;
  const model = typeof llm === 'string' ? await (await import('@quiver/core/llm')).resolveLanguageModel(llm) : llm;
  const instructions = system === undefined ? [] : [{ role: 'system' as const, content: system }];
  const { content = [] } = await retry<Answer>(
    () =>
      model.doGenerate({
        prompt: [...instructions, { role: 'user', content: [{ type: 'text', text: prompt }] }],
        temperature,
        responseFormat,
        abortSignal: signal,
      }) as PromiseLike<Answer>,
    { signal },
  );
  return content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}

/** Some models put JSON into a Markdown fence, or between sentences, which may have brackets, regardless of the prompt. */
function parseAnswer(answer: string): unknown {
  const text = answer.trim().replace(/^```(?:json)?|```$/g, '');
  const endOfObject = text.lastIndexOf('}') + 1;
  const inProse = [
    text.slice(Math.max(0, text.search(/[{[]/)), Math.max(endOfObject, text.lastIndexOf(']') + 1)),
    text.slice(Math.max(0, text.indexOf('{')), endOfObject),
  ];
  let cause: unknown;
  for (const json of [text, ...inProse]) {
    try {
      return JSON.parse(json);
    } catch (error) {
      cause ??= error;
    }
  }
  throw new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model is not JSON: ${answer.slice(0, 200)}`, {
    cause,
  });
}
