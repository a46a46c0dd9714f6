import { QuiverError } from '../errors.js';
import { checkOptions } from '../options.js';
import { askAgentChecks, type AskAgentOptions } from './agent-like.js';

/** One run of a workflow. */
export interface WorkflowRunLike {
  // oxlint-disable-next-line typescript/no-explicit-any -- each engine has its own options and results
  start(options: any): PromiseLike<any>;
  cancel?(): unknown;
}

/** Any workflow that can be started, such as Mastra's: `createRun()`, or `createRunAsync()` in older versions. */
export interface WorkflowLike {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  createRun?(options?: object): WorkflowRunLike | PromiseLike<WorkflowRunLike>;
  createRunAsync?(options?: object): PromiseLike<WorkflowRunLike>;
}

/** Alias from the specification. */
export type Workflow = WorkflowLike;

/** Options of {@link runWorkflow}. */
export type RunWorkflowOptions = AskAgentOptions;

/**
 * Creates a run and starts it. If the signal aborts, cancels the run, provided that the engine supports it.
 *
 * @returns the result of `start`
 * @throws `OPTIONS_INVALID`; `WORKFLOW_NOT_RUNNABLE` when the workflow has neither `createRun` nor `createRunAsync`
 * @example
 * const result = await runWorkflow(onboarding, { userId: '42' }, { abortSignal: AbortSignal.timeout(60_000) });
 */
export async function runWorkflow(
  workflow: WorkflowLike,
  inputData: unknown,
  options: RunWorkflowOptions = {},
): Promise<unknown> {
  checkOptions<RunWorkflowOptions>('runWorkflow', options, askAgentChecks);
  const { requestContext, abortSignal } = options;
  abortSignal?.throwIfAborted();
  const run = await (workflow.createRun ? workflow.createRun() : workflow.createRunAsync?.());
  if (!run) {
    throw new QuiverError(
      'WORKFLOW_NOT_RUNNABLE',
      `The workflow '${workflow.id ?? workflow.name ?? '?'}' has neither createRun() nor createRunAsync().`,
    );
  }
  const cancel = (): void => void run.cancel?.();
  abortSignal?.addEventListener('abort', cancel, { once: true });
  try {
    // Under the current name and the name in the v0 API.
    return (await run.start({
      inputData,
      ...(requestContext && { requestContext, runtimeContext: requestContext }),
    })) as unknown;
  } finally {
    abortSignal?.removeEventListener('abort', cancel);
  }
}
