import type { ElicitOptions, ToolMcpContext } from '@quiver/core/tools';
import type { Result } from '../content.js';
import type { ClientRequest } from './client/client-requests.js';
import type { InputRound } from './eras/input-round.js';

export type ProgressUpdate = Parameters<ToolMcpContext['progress']>[0];

/** Carries on a run that continues after its response. */
export interface ContinuedRun {
  /** Sends a request of the run to the client. */
  request<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value>;
  /** As {@link ContinuedRun.request}, for a request that is counted, under a key unless another request has it. */
  requestAs<Value>(key: string, request: ClientRequest<Value>, options: ElicitOptions): Promise<Value>;
  report(update: ProgressUpdate): void;
}

/** A run that may continue after its response. */
export interface ContinuableRun {
  /** Whether neither its result nor a cancellation has ended it. */
  readonly isOpen: boolean;
  /** Requests to the client so far, which end the round unless the run continues. */
  readonly round: InputRound;
  /** Hands the run over, with its requests and its progress. @returns the result as JSON text */
  continueAs(continued: ContinuedRun): Promise<string>;
  /** Answers the request, unless it is answered. */
  respond(result: Promise<Result>): void;
  /** Ends the run, and refuses the request. */
  fail(error: Error): void;
}

/** Decides for one request whether and when its run continues after the response. */
export interface Continuation {
  /** Whether requests to the client wait for the decision, and do not end the round. */
  readonly takesRequests: boolean;
  /** Called before the run has any effect. @throws ProtocolError to refuse the request */
  start(run: ContinuableRun): void;
  /** The tool itself lets the run continue now. */
  continueNow(): void;
  end(): void;
}
