import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toErrorMessage } from '../errors.js';
import { getDefaultLogger } from '../logger.js';
import { toModelSchema, validate, type JsonSchema, type Schema } from '../schema/index.js';
import { readModelArgument, type SdkMajor } from './driver.js';
import { repairInput } from './repair-input.js';
import { isToolFailure, type ToolFailure } from './tool-failure.js';
import type { ToolModelOutput, ToolModelOutputPart } from './tool.js';

const schemaMark = Symbol.for('vercel.ai.schema');
/** Second mark of a schema, which AI SDK 5 checks. */
const validatorMark = Symbol.for('vercel.ai.validator');

/** The tool of a schema. */
export interface InputOwner {
  readonly id: string;
  /** Receives every valid input, so that the tool does not parse it again: a transform must run once. */
  recordValidated(input: unknown): void;
}

/**
 * Returns an object that inherits from the user's schema and has the members that the AI SDK requires, so that any schema works.
 *
 * AI SDK 5 rejects Standard Schemas other than zod, and 6 and 7 those without JSON Schema support; with these marks, all three
 * treat the schema as an AI SDK schema. The user's schema stays reachable as `~source`.
 */
export function toAiSdkInputSchema(tool: InputOwner, schema: Schema): JsonSchema {
  if (isRemoteSchema(schema)) return new MarkedRemoteSchema(tool, schema) as unknown as JsonSchema;
  return Object.create(schema, {
    ...sharedMembers,
    '~source': { value: schema },
    [owner]: { value: tool },
  }) as JsonSchema;
}

const owner = Symbol('tool');

/** Members that differ between schemas. A property, not `#private`: a proxy must be able to read it. */
interface Marked {
  readonly '~source': Schema;
  readonly [owner]: InputOwner;
}

/** Functions that all schemas share. Functions per schema would cost memory in each of many tools. */
const sharedMembers: PropertyDescriptorMap = {
  [schemaMark]: { value: true },
  [validatorMark]: { value: true },
  jsonSchema: {
    enumerable: true,
    get(this: Marked): JsonSchema {
      return undescribed.get(this) ?? describeOrWarn(this);
    },
  },
  validate: {
    async value(this: Marked, value: unknown): Promise<AiSdkValidation> {
      let result = await validate(this['~source'], value);
      if (!result.ok) result = await repairInput(this['~source'], value, result);
      if (!result.ok) {
        const reasons = result.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`);
        return { success: false, error: withoutName(new TypeError(reasons.join('\n'))) };
      }
      this[owner].recordValidated(result.value);
      return { success: true, value: result.value };
    },
  },
};

/**
 * Makes the text of an error its message. AI SDK 7 sends the text to the model, which begins with the name of the class; 5 and 6 send the message.
 */
export function withoutName<Thrown>(error: Thrown): Thrown {
  const isPlain = error instanceof Error && error.message !== '' && error.toString === Error.prototype.toString;
  if (isPlain && Object.isExtensible(error))
    Object.defineProperty(error, 'toString', { value: readMessage, writable: true, configurable: true });
  return error;
}

function readMessage(this: Error): string {
  return this.message;
}

type AiSdkValidation = { success: true; value: unknown } | { success: false; error: Error };

/** Returns whether a schema is the one of a remote MCP tool, which has no members for users. */
function isRemoteSchema(schema: Schema): schema is StandardSchemaV1 {
  return '~standard' in schema && (schema as StandardSchemaV1)['~standard']?.vendor === 'mcp';
}

/** Class of such schemas. Thousands of tools take a third of the memory that inheriting from each schema would take. */
class MarkedRemoteSchema {
  readonly '~source': StandardSchemaV1;
  readonly [owner]: InputOwner;

  static {
    Object.defineProperties(this.prototype, sharedMembers);
  }

  constructor(tool: InputOwner, schema: StandardSchemaV1) {
    this['~source'] = schema;
    this[owner] = tool;
  }

  get '~standard'(): unknown {
    return this['~source']['~standard'];
  }
}

/** Replacements of schemas without a JSON Schema form, so that each one is logged once. */
const undescribed = new WeakMap<object, JsonSchema>();

/** Returns the JSON Schema, or a replacement if there is none: one such schema must not make the other tools unavailable. */
function describeOrWarn(marked: Marked): JsonSchema {
  try {
    return toModelSchema(marked['~source']);
  } catch (error) {
    getDefaultLogger().warn(
      `Tool '${marked[owner].id}' is offered to the model without a description of its input: ${toErrorMessage(error)}`,
    );
    const anything: JsonSchema = { type: 'object' };
    undescribed.set(marked, anything);
    return anything;
  }
}

/**
 * The `toModelOutput` for all three majors. Without a custom function, it behaves like the AI SDK and also converts values without a
 * JSON form, so that they cannot break the request to the model.
 *
 * @param argument - the bare output (AI SDK 5), or `{ toolCallId, input, output }` (6 and 7)
 * @param custom - the custom function
 * @param toolId - id of the tool, for warnings
 */
export function showToModel(
  argument: unknown,
  custom: (output: unknown) => ToolModelOutput | PromiseLike<ToolModelOutput> = toDefaultOutput,
  toolId?: string,
): unknown {
  const { output, major } = readModelArgument(argument);
  if (isToolFailure(output) || isStoredFailure(output)) return { type: 'error-text', value: output.message };
  const result = custom(output);
  if (!('then' in result)) return mapParts(result, major);
  if (major !== 5) return Promise.resolve(result).then((settled) => mapParts(settled, major));
  getDefaultLogger().warn(
    `AI SDK 5 cannot wait for the asynchronous toModelOutput of tool '${toolId}'; the model receives the output as JSON.`,
  );
  Promise.resolve(result).catch(() => {});
  return toDefaultOutput(output);
}

/** Returns whether a value has the shape of a failure. A failure that was stored as JSON has lost its mark. */
function isStoredFailure(output: unknown): output is ToolFailure {
  const { error, message, validationErrors } = (output ?? {}) as Partial<ToolFailure>;
  return error === true && typeof message === 'string' && typeof validationErrors === 'object';
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
  return { ...result, value: result.value.map(major === 5 ? toSdk5Part : toSdk7Part) };
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
 * Returns a file part under the name that version 7 does not deprecate. URLs keep the older name: the newer form contains a `URL`
 * object, which a conversation that is stored as JSON would lose.
 */
function toSdk7Part(part: ToolModelOutputPart): unknown {
  if (part.type !== 'image-data' && part.type !== 'file-data') return part;
  const { data, ...rest } = part;
  return { ...rest, type: 'file', data: { type: 'data', data } };
}
