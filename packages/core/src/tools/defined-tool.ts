import type { Schema } from '../schema/index.js';
import { AiSdkCalls } from './ai-sdk-calls.js';
import { executeDefinition, streamDefinition } from './execute-tool.js';
import { showToModel } from './model-output.js';
import { createToolContext, type ToolCallOptions, type ToolContext } from './tool-context.js';
import type { ToolDefinition } from './tool-definition.js';
import type { ErasedToolOptions } from './tool-options.js';

/**
 * State that the members of one tool share. Programs hold thousands of tools and call a few of them, so each tool has one object with
 * shared methods, and the first call creates what only calls need.
 */
export class DefinedTool implements ToolDefinition {
  readonly id: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly requestContextSchema: Schema | undefined;
  readonly requireApproval: ToolDefinition['requireApproval'];
  readonly onInputAvailable: ToolDefinition['onInputAvailable'];
  readonly onOutput: ToolDefinition['onOutput'];
  private readonly options: ErasedToolOptions;
  private recordedCalls: AiSdkCalls | undefined;

  constructor(options: ErasedToolOptions) {
    this.id = options.id;
    this.inputSchema = options.inputSchema;
    this.outputSchema = options.outputSchema;
    this.requestContextSchema = options.requestContextSchema;
    this.requireApproval = options.requireApproval;
    this.onInputAvailable = options.onInputAvailable;
    this.onOutput = options.onOutput && announceOutputOnce(options.onOutput, this);
    this.options = options;
    this.recordedCalls = undefined;
  }

  get calls(): AiSdkCalls {
    return (this.recordedCalls ??= new AiSdkCalls());
  }

  run(input: unknown, context: ToolContext): unknown {
    return this.options.execute?.(input, context);
  }

  execute(input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
    return executeDefinition(this, input, options, this.calls.begin(input, options));
  }

  stream(input: unknown, options: ToolCallOptions = {}): AsyncGenerator<unknown> {
    return streamDefinition(this, input, options, this.calls.begin(input, options));
  }

  recordValidated(input: unknown): void {
    // Without `execute` no call begins.
    if (this.options.execute) this.calls.recordValidated(input);
  }

  /** The AI SDK asks with options of its own; the user's function receives what `execute` would. */
  needsApproval(input: unknown, options: ToolCallOptions = {}): boolean | PromiseLike<boolean> {
    const { id, requireApproval } = this;
    if (typeof requireApproval !== 'function') return requireApproval === true;
    return requireApproval(input, createToolContext(id, options));
  }

  toModelOutput(argument: unknown): unknown {
    const { toModelOutput } = this.options;
    return showToModel(argument, toModelOutput, this.id);
  }
}

/** `execute` itself announces its output; a driver that knows `onOutput`, as Mastra's agents do, must not do it again. */
function announceOutputOnce(
  onOutput: NonNullable<ErasedToolOptions['onOutput']>,
  tool: { readonly calls: AiSdkCalls },
): NonNullable<ErasedToolOptions['onOutput']> {
  return (event) => {
    tool.calls.recordOutputAnnounced(event.toolCallId);
    return onOutput(event);
  };
}
