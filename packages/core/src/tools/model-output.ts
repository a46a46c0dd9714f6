import { getDefaultLogger } from '../logger.js';
import { isToolFailure, type ToolFailure } from './tool-failure.js';

/** A piece of a result that is more than text. AI SDK 5 carries text and data; URLs and file ids reach its models as text. */
export type ToolModelOutputPart =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'image-url'; url: string }
  | { type: 'file-data'; data: string; mediaType: string; filename?: string }
  | { type: 'file-url'; url: string; mediaType?: string }
  | { type: 'file-id' | 'image-file-id'; fileId: string | Record<string, string> }
  | { type: 'custom'; providerOptions?: Record<string, Record<string, unknown>> };

/** Output that a model receives instead of the raw output. `data` is Base64. */
export type ToolModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'json' | 'error-json'; value: unknown }
  | { type: 'content'; value: ToolModelOutputPart[] };

type SdkMajor = 5 | 6 | 7;

/** Outputs whose caller is known for certain to be AI SDK 7, which has names of its own for parts. */
const outputsOfSdk7 = new WeakSet<object>();

/** Remembers, for objects, which AI SDK an output goes to: only version 7 passes `context` to `execute`. */
export function rememberCaller(output: unknown, options: object): void {
  if (typeof output !== 'object' || output === null) return;
  if ('context' in options && !('experimental_context' in options)) outputsOfSdk7.add(output);
}

/**
 * The `toModelOutput` that all three majors understand. Without a function of the user's it does what the AI SDK does, and also
 * gives values that JSON cannot carry a form, so that they cannot break the request to the model.
 *
 * @param argument - the bare output (AI SDK 5), or `{ toolCallId, input, output }` (6 and 7)
 * @param custom - the user's function
 * @param toolId - names the tool of that function in warnings
 */
export function showToModel(
  argument: unknown,
  custom: (output: unknown) => ToolModelOutput | PromiseLike<ToolModelOutput> = toDefaultOutput,
  toolId?: string,
): unknown {
  const isWrapped = isEnvelope(argument);
  const output = isWrapped ? argument.output : argument;
  if (isToolFailure(output) || isStoredFailure(output)) return { type: 'error-text', value: output.message };
  const result = custom(output);
  const major = majorOf(isWrapped, output);
  if (!('then' in result)) return mapParts(result, major);
  if (major !== 5) return Promise.resolve(result).then((settled) => mapParts(settled, major));
  getDefaultLogger().warn(
    `AI SDK 5 cannot wait for the asynchronous toModelOutput of tool '${toolId}'; the model receives the output as JSON.`,
  );
  Promise.resolve(result).catch(() => {});
  return toDefaultOutput(output);
}

/** A failure that was stored as JSON and read back has lost its mark. */
function isStoredFailure(output: unknown): output is ToolFailure {
  if (typeof output !== 'object' || output === null) return false;
  const { error, message, validationErrors } = output as Partial<ToolFailure>;
  return error === true && typeof message === 'string' && typeof validationErrors === 'object';
}

interface Envelope {
  toolCallId: string;
  input: unknown;
  output: unknown;
}

function isEnvelope(argument: unknown): argument is Envelope {
  return (
    typeof argument === 'object' &&
    argument !== null &&
    'toolCallId' in argument &&
    'input' in argument &&
    'output' in argument
  );
}

function majorOf(isWrapped: boolean, output: unknown): SdkMajor {
  if (!isWrapped) return 5;
  return typeof output === 'object' && output !== null && outputsOfSdk7.has(output) ? 7 : 6;
}

function toDefaultOutput(output: unknown): ToolModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output };
  try {
    const text = JSON.stringify(output, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    return { type: 'json', value: text === undefined ? null : (JSON.parse(text) as unknown) };
  } catch {
    return { type: 'error-text', value: 'The tool ran, but its output cannot be written as JSON.' };
  }
}

function mapParts(result: ToolModelOutput, major: SdkMajor): unknown {
  if (result.type !== 'content' || major === 6) return result;
  return { ...result, value: result.value.map((part) => (major === 5 ? toSdk5Part(part) : toSdk7Part(part))) };
}

function toSdk5Part(part: ToolModelOutputPart): unknown {
  switch (part.type) {
    case 'image-data':
    case 'file-data':
      return { type: 'media', data: part.data, mediaType: part.mediaType };
    case 'image-url':
    case 'file-url':
      return { type: 'text', text: part.url };
    case 'file-id':
    case 'image-file-id':
      return { type: 'text', text: typeof part.fileId === 'string' ? part.fileId : JSON.stringify(part.fileId) };
    case 'custom':
      return { type: 'text', text: '(content for another provider)' };
    default:
      return part;
  }
}

/**
 * Data under the name that version 7 does not deprecate. URLs keep the older name: the newer form holds a `URL` object, which a
 * conversation that is stored as JSON would lose.
 */
function toSdk7Part(part: ToolModelOutputPart): unknown {
  if (part.type !== 'image-data' && part.type !== 'file-data') return part;
  const { data, ...rest } = part;
  return { ...rest, type: 'file', data: { type: 'data', data } };
}
