import { isQuiverError, QuiverError } from '@quiver/core';
import { validateJsonSchema, type JsonSchema } from '@quiver/core/schema';

/** The schema of a remote tool: any JSON object, described by the server. */
export interface RemoteSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'mcp';
    readonly validate: (value: unknown) => RemoteValidation | Promise<RemoteValidation>;
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> } | undefined;
    readonly jsonSchema: Record<'input' | 'output', () => JsonSchema>;
  };
}

type RemoteValidation =
  | { readonly value: Record<string, unknown>; readonly issues?: undefined }
  | { readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[] };

/** Set for an output schema. */
export interface RemoteOutput {
  readonly toolName: string;
  /** Values that are accepted without a check. */
  readonly isExempt: (value: unknown) => boolean;
}

/**
 * Wraps the unchanged JSON Schema of a server in the form that all tools take.
 *
 * Regular expressions are not checked, because a hostile one can take exponential time. A schema that cannot be used checks nothing, and
 * arguments whose check would block for too long are sent unchecked: the server validates its arguments itself.
 *
 * @throws (from `validate`) `MCP_OUTPUT_TOO_COMPLEX` when the check of an output would block for too long
 */
export function toRemoteSchema(source: object, output?: RemoteOutput): RemoteSchema {
  return { '~standard': new RemoteStandard(source, output) };
}

/** The methods are shared: there is a schema for each of many tools, of which few are called. */
class RemoteStandard {
  private readonly source: object;
  private readonly output: RemoteOutput | undefined;

  constructor(source: object, output: RemoteOutput | undefined) {
    this.source = source;
    this.output = output;
  }

  get version(): 1 {
    return 1;
  }

  get vendor(): 'mcp' {
    return 'mcp';
  }

  get jsonSchema(): Record<'input' | 'output', () => JsonSchema> {
    const described = (): JsonSchema => this.source as JsonSchema;
    return { input: described, output: described };
  }

  async validate(value: unknown): Promise<RemoteValidation> {
    // The value is passed on unchanged.
    const given = { value: value as Record<string, unknown> };
    if (this.output?.isExempt(value)) return given;
    try {
      const result = validateJsonSchema(this.source as JsonSchema, value, { checkPatterns: false });
      return result.ok ? given : { issues: result.issues };
    } catch (error) {
      if (!this.output || !isQuiverError(error, 'SCHEMA_TOO_COMPLEX')) return given;
      throw new QuiverError(
        'MCP_OUTPUT_TOO_COMPLEX',
        `The output of the remote tool '${this.output.toolName}' was refused, because the check against its output schema takes too long. Report it to the operator of the server, or leave out the tool.`,
        { cause: error },
      );
    }
  }
}
