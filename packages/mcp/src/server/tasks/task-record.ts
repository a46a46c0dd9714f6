import type { RequestState } from '../request-state.js';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A JSON-RPC error, as a task carries it. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The call of a task that another instance may run again. Contains no token. */
export interface StoredCall {
  readonly requestId: string | number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly authInfo?: Readonly<Record<string, unknown>>;
  /** Entries of the request context that the configuration of the server names. */
  readonly requestContext: Readonly<Record<string, unknown>>;
}

/** State of a task. Every change creates a new object, which is stored with compare-and-set. */
export interface TaskRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** Digest of the principal that created the task. */
  readonly owner: string;
  /** Id of the instance that created the task, by whose clock `createdAt` is. */
  readonly creator: string;
  /** Id of the instance that runs the tool; empty after it has released the task. */
  readonly instance: string;
  /** Number of the run; every instance that takes the task over begins another one. Only the current run changes the task. */
  readonly run: number;
  /** Outstanding requests to the client, by key. */
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params?: object | undefined }>>;
  /** Digest of every request to the client so far, by key. A key is never used for another request. */
  readonly asked: Readonly<Record<string, string>>;
  /** Responses of the client, by key, as received. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** Results of the input rounds before the call became a task. */
  readonly answers: RequestState['answers'];
  /** Result of the call as JSON text. */
  readonly result?: string;
  readonly error?: TaskError;
  /** Present when another instance may run the call again. */
  readonly call?: StoredCall;
}

export type TaskEnd =
  | { readonly status: 'completed'; readonly result: string }
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'cancelled' };

export function hasEnded({ status }: TaskRecord): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Adds a request to the client. */
export function addRequest(
  record: TaskRecord,
  key: string,
  request: { method: string; params?: object | undefined },
  digest: string,
): TaskRecord {
  const { method, params } = request;
  const inputRequests = { ...record.inputRequests, [key]: { method, params } };
  return withRequests({ ...record, asked: { ...record.asked, [key]: digest } }, inputRequests);
}

/** Withdraws requests, or returns `undefined` when none of them is outstanding. */
export function removeRequests(record: TaskRecord, keys: readonly string[]): TaskRecord | undefined {
  const known = keys.filter((key) => Object.hasOwn(record.inputRequests, key));
  if (known.length === 0) return undefined;
  const left = Object.entries(record.inputRequests).filter(([key]) => !known.includes(key));
  return withRequests(record, Object.fromEntries(left));
}

/** Takes the responses to outstanding requests. Unknown, answered and withdrawn keys are ignored. */
export function addResponses(record: TaskRecord, responses: Readonly<Record<string, unknown>>): TaskRecord | undefined {
  const known = Object.entries(responses).filter(([key]) => Object.hasOwn(record.inputRequests, key));
  const changed = removeRequests(
    record,
    known.map(([key]) => key),
  );
  return changed && { ...changed, responses: { ...changed.responses, ...Object.fromEntries(known) } };
}

function withRequests(record: TaskRecord, inputRequests: TaskRecord['inputRequests']): TaskRecord {
  const isWaiting = Object.keys(inputRequests).length > 0;
  return { ...record, inputRequests, status: isWaiting ? 'input_required' : 'working' };
}

/** Ends a task. The first end counts. */
export function endTask(record: TaskRecord, end: TaskEnd): TaskRecord | undefined {
  return hasEnded(record) ? undefined : { ...record, ...end, inputRequests: {} };
}

/** Returns the members that the creation of a task and every status have in common. */
function commonMembers(record: TaskRecord): object {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = record;
  return { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs };
}

/** Returns the result of a call that became a task, as JSON. */
export function createdTaskText(record: TaskRecord, meta: object): string {
  return JSON.stringify({ resultType: 'task', ...commonMembers(record), _meta: meta });
}

/** Returns the members of the state of a task as JSON text without braces. */
export function taskMembers(record: TaskRecord): string {
  const { status, inputRequests, error, result } = record;
  const members = JSON.stringify({
    ...commonMembers(record),
    ...(status === 'input_required' && { inputRequests }),
    ...(status === 'failed' && { error }),
  }).slice(1, -1);
  return status === 'completed' ? `${members},"result":${result}` : members;
}
