import { toErrorMessage } from '../errors.js';
import { getDefaultLogger } from '../logger.js';
import { toJsonSchema, type JsonSchema, type Schema } from '../schema/index.js';
import { validateInput } from './validate-input.js';

const schemaMark = Symbol.for('vercel.ai.schema');
/** AI SDK 5 looks for this second mark. */
const validatorMark = Symbol.for('vercel.ai.validator');

export interface AiSdkInputSchemaOptions {
  toolId: string;
  schema: Schema;
  /** Called with every input that passed, so that it is not parsed a second time: a transform must run once. */
  onParsed: (input: unknown) => void;
}

/**
 * Lets the AI SDK use any schema: an object that inherits everything from the user's schema and adds what the AI SDK looks for.
 *
 * AI SDK 5 rejects Standard Schemas other than zod, and 6 and 7 those without JSON Schema support; with these marks all three
 * take the schema as one of their own. The user's schema stays reachable as `~source`.
 */
export function toAiSdkInputSchema({ toolId, schema, onParsed }: AiSdkInputSchemaOptions): JsonSchema {
  let described: JsonSchema | undefined;
  return Object.create(schema, {
    [schemaMark]: { value: true },
    [validatorMark]: { value: true },
    '~source': { value: schema },
    jsonSchema: {
      enumerable: true,
      get: () => (described ??= describeOrWarn(toolId, schema)),
    },
    validate: {
      value: async (value: unknown) => {
        const result = await validateInput(schema, value);
        if (!result.ok) {
          const reasons = result.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`);
          return { success: false, error: new TypeError(reasons.join('\n')) };
        }
        onParsed(result.value);
        return { success: true, value: result.value };
      },
    },
  }) as JsonSchema;
}

/** One tool whose schema cannot be described must not take the whole set of tools with it. */
function describeOrWarn(toolId: string, schema: Schema): JsonSchema {
  try {
    return toJsonSchema(schema, 'input');
  } catch (error) {
    getDefaultLogger().warn(
      `Tool '${toolId}' is offered to the model without a description of its input: ${toErrorMessage(error)}`,
    );
    return { type: 'object' };
  }
}
