import { QuiverError } from '@quiver/core';
import { toModelSchema, validate, type Schema } from '@quiver/core/schema';
import { retry } from '../../requests/retry.js';
import type { LanguageModelInput } from './extract-options.js';

export interface ModelRequest {
  llm: LanguageModelInput;
  prompt: string;
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
  const answer = await ask(request, { type: 'json', schema: toModelSchema(schema) });
  const result = await validate(schema, parseAnswer(answer));
  if (result.ok) return result.value;
  const issues = result.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model does not match the schema: ${issues}`);
}

/** Fields of a result that are read. They are the same in the specification versions v2, v3 and v4. */
interface Answer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

async function ask({ llm, prompt, signal }: ModelRequest, responseFormat?: object): Promise<string> {
  const model = typeof llm === 'string' ? await (await import('@quiver/core/llm')).resolveLanguageModel(llm) : llm;
  const { content = [] } = await retry<Answer>(
    () =>
      model.doGenerate({
        prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
        responseFormat,
        abortSignal: signal,
      }) as PromiseLike<Answer>,
    { signal },
  );
  return content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}

/** Some models put JSON into a Markdown fence regardless of the prompt. */
function parseAnswer(answer: string): unknown {
  const text = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(answer)?.[1] ?? answer;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new QuiverError('EXTRACT_ANSWER_INVALID', `The answer of the model is not JSON: ${text.slice(0, 200)}`, {
      cause: error,
    });
  }
}
