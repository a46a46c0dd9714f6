import { toErrorMessage } from '../errors.js';
import { getDefaultLogger } from '../logger.js';
import { toJsonSchema, type JsonSchema, type Schema } from '../schema/index.js';
import { validateInput } from './validate-input.js';

const schemaMark = Symbol.for('vercel.ai.schema');
/** AI SDK 5 looks for this second mark. */
const validatorMark = Symbol.for('vercel.ai.validator');

/** The tool of a schema. */
export interface InputOwner {
  readonly id: string;
  /** Called with every input that passed, so that it is not parsed a second time: a transform must run once. */
  markParsed(input: unknown): void;
}

/**
 * Lets the AI SDK use any schema: an object that has everything of the user's schema and adds what the AI SDK looks for.
 *
 * AI SDK 5 rejects Standard Schemas other than zod, and 6 and 7 those without JSON Schema support; with these marks all three
 * take the schema as one of their own. The user's schema stays reachable as `~source`.
 */
export function toAiSdkInputSchema(tool: InputOwner, schema: Schema): JsonSchema {
  const marked = isPlainStandardSchema(schema) ? new MarkedStandardSchema(tool, schema) : inherit(tool, schema);
  return marked as JsonSchema;
}

interface StandardSchema {
  readonly '~standard': unknown;
}

/** Whether nothing would be inherited but `~standard`, as with the schemas of remote tools. */
function isPlainStandardSchema(schema: object): schema is StandardSchema {
  if (Object.getPrototypeOf(schema) !== Object.prototype) return false;
  const keys = Reflect.ownKeys(schema);
  return keys.length === 1 && keys[0] === '~standard';
}

/** All schemas of this kind share one shape: thousands of tools cost a third of what they would by inheriting. */
class MarkedStandardSchema {
  declare readonly [schemaMark]: true;
  declare readonly [validatorMark]: true;
  readonly '~source': StandardSchema;
  // Not `#private`: a proxy must be able to read them.
  private readonly tool: InputOwner;
  private described: JsonSchema | undefined;

  static {
    Object.defineProperty(this.prototype, schemaMark, { value: true });
    Object.defineProperty(this.prototype, validatorMark, { value: true });
  }

  constructor(tool: InputOwner, schema: StandardSchema) {
    this.tool = tool;
    this['~source'] = schema;
  }

  get '~standard'(): unknown {
    return this['~source']['~standard'];
  }

  get jsonSchema(): JsonSchema {
    return (this.described ??= describeOrWarn(this.tool, this['~source'] as Schema));
  }

  validate(value: unknown): Promise<AiSdkValidation> {
    return validateForAiSdk(this.tool, this['~source'] as Schema, value);
  }
}

function inherit(tool: InputOwner, schema: Schema): object {
  let described: JsonSchema | undefined;
  return Object.create(schema, {
    [schemaMark]: { value: true },
    [validatorMark]: { value: true },
    '~source': { value: schema },
    jsonSchema: {
      enumerable: true,
      get: () => (described ??= describeOrWarn(tool, schema)),
    },
    validate: { value: (value: unknown) => validateForAiSdk(tool, schema, value) },
  }) as object;
}

type AiSdkValidation = { success: true; value: unknown } | { success: false; error: Error };

async function validateForAiSdk(tool: InputOwner, schema: Schema, value: unknown): Promise<AiSdkValidation> {
  const result = await validateInput(schema, value);
  if (!result.ok) {
    const reasons = result.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`);
    return { success: false, error: new TypeError(reasons.join('\n')) };
  }
  tool.markParsed(result.value);
  return { success: true, value: result.value };
}

/** One tool whose schema cannot be described must not take the whole set of tools with it. */
function describeOrWarn({ id }: InputOwner, schema: Schema): JsonSchema {
  try {
    return toJsonSchema(schema, 'input');
  } catch (error) {
    getDefaultLogger().warn(
      `Tool '${id}' is offered to the model without a description of its input: ${toErrorMessage(error)}`,
    );
    return { type: 'object' };
  }
}
