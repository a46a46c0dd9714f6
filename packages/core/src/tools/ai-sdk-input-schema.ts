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
  recordValidated(input: unknown): void;
}

/**
 * Returns an object that inherits from the user's schema and has the members that the AI SDK requires, so that any schema works.
 *
 * AI SDK 5 rejects Standard Schemas other than zod, and 6 and 7 those without JSON Schema support; with these marks all three
 * take the schema as one of their own. The user's schema stays reachable as `~source`.
 */
export function toAiSdkInputSchema(tool: InputOwner, schema: Schema): JsonSchema {
  if (hasOnlyStandardMember(schema)) return new MarkedStandardSchema(tool, schema) as unknown as JsonSchema;
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

/** The same functions for all schemas: what is different for each costs memory in each of many tools. */
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
    value(this: Marked, value: unknown): Promise<AiSdkValidation> {
      return validateForAiSdk(this, value);
    },
  },
};

interface StandardSchema {
  readonly '~standard': unknown;
}

/** Whether nothing would be inherited but `~standard`, as with the schemas of remote tools. */
function hasOnlyStandardMember(schema: object): schema is StandardSchema {
  if (Object.getPrototypeOf(schema) !== Object.prototype) return false;
  const keys = Reflect.ownKeys(schema);
  return keys.length === 1 && keys[0] === '~standard';
}

/** All schemas of this kind share one shape: thousands of tools cost a third of what they would by inheriting. */
class MarkedStandardSchema {
  readonly '~source': StandardSchema;
  readonly [owner]: InputOwner;

  static {
    Object.defineProperties(this.prototype, sharedMembers);
  }

  constructor(tool: InputOwner, schema: StandardSchema) {
    this['~source'] = schema;
    this[owner] = tool;
  }

  get '~standard'(): unknown {
    return this['~source']['~standard'];
  }
}

type AiSdkValidation = { success: true; value: unknown } | { success: false; error: Error };

async function validateForAiSdk(
  { '~source': schema, [owner]: tool }: Marked,
  value: unknown,
): Promise<AiSdkValidation> {
  const result = await validateInput(schema, value);
  if (!result.ok) {
    const reasons = result.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`);
    return { success: false, error: new TypeError(reasons.join('\n')) };
  }
  tool.recordValidated(result.value);
  return { success: true, value: result.value };
}

/** Replacements of schemas that cannot be described, so that each one is logged once. */
const undescribed = new WeakMap<object, JsonSchema>();

/** A tool whose schema cannot be described must not remove the other tools. */
function describeOrWarn(marked: Marked): JsonSchema {
  try {
    return toJsonSchema(marked['~source'], 'input');
  } catch (error) {
    getDefaultLogger().warn(
      `Tool '${marked[owner].id}' is offered to the model without a description of its input: ${toErrorMessage(error)}`,
    );
    const anything: JsonSchema = { type: 'object' };
    undescribed.set(marked, anything);
    return anything;
  }
}
