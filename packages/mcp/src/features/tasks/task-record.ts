import { ErrorForClients } from '../../server/failures.js';
import { taskStatuses, type TaskStatus } from '../../protocol/constants.js';
import { isObject, isRequestId, parseJsonObject } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import {
  addCapabilities,
  missingCapabilities,
  type ClientRequest,
  type MissingCapabilities,
  type RequiredCapabilities,
} from '../../server/client/client-requests.js';
import type { RequestState } from '../../server/client/request-state.js';

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

interface StoredRequest {
  readonly method: string;
  readonly params?: object | undefined;
  /** Capabilities of the clients that receive it. */
  readonly requires: RequiredCapabilities;
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
  readonly inputRequests: Readonly<Record<string, StoredRequest>>;
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

export function addRequest(
  record: TaskRecord,
  key: string,
  { method, params, requires }: ClientRequest<unknown>,
  digest: string,
): TaskRecord {
  const inputRequests = { ...record.inputRequests, [key]: { method, params, requires } };
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
export function commonMembers(record: TaskRecord): object {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = record;
  return { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs };
}

/**
 * Returns the capabilities that all outstanding requests of a task lack together, when the client can provide none of them, with the state of
 * the task without the content of its requests; otherwise `undefined`.
 */
export function missingForInput(
  record: TaskRecord,
  declared: ClientCapabilities,
): { requiredCapabilities: RequiredCapabilities; task: object } | undefined {
  if (record.status !== 'input_required' || Object.keys(requestsFor(record, declared)).length > 0) return undefined;
  const requiredCapabilities: MissingCapabilities = {};
  for (const { requires } of Object.values(record.inputRequests))
    addCapabilities(requiredCapabilities, missingCapabilities(requires, declared) ?? {});
  const requests = Object.entries(record.inputRequests).map(([key, { method }]) => [key, { method }] as const);
  return { requiredCapabilities, task: { ...commonMembers(record), inputRequests: Object.fromEntries(requests) } };
}

/** Returns the outstanding requests that a client can provide. A client never receives others. */
function requestsFor({ inputRequests }: TaskRecord, declared: ClientCapabilities): Record<string, object> {
  const provided = Object.entries(inputRequests).filter(([, { requires }]) => !missingCapabilities(requires, declared));
  return Object.fromEntries(provided.map(([key, { method, params }]) => [key, { method, params }]));
}

/** @param declared - capabilities of the client that receives the state */
export function taskMembers(record: TaskRecord, declared: ClientCapabilities): object {
  const { status, error, result } = record;
  return {
    ...commonMembers(record),
    ...(status === 'input_required' && { inputRequests: requestsFor(record, declared) }),
    ...(status === 'failed' && { error }),
    ...(result !== undefined && { result: JSON.parse(result) as unknown }),
  };
}

/** Other programs may have written the record too. @throws `TASK_RECORD_INVALID` */
export function parseTaskRecord(taskId: string, text: string): TaskRecord {
  const record: unknown = parseJsonObject(text);
  if (isTaskRecord(record) && record.taskId === taskId) return record;
  // Its message does not quote the record.
  throw new ErrorForClients(
    'TASK_RECORD_INVALID',
    'The shared store has a task record that MCPServer did not write. The task cannot be used; call the tool again.',
  );
}

function isTaskRecord(record: unknown): record is TaskRecord {
  if (!isObject(record)) return false;
  const { status, statusMessage, ttlMs, pollIntervalMs, run, inputRequests, asked, answers, result, error, call } =
    record;
  const texts = ['taskId', 'createdAt', 'lastUpdatedAt', 'owner', 'creator', 'instance'].map((name) => record[name]);
  return (
    texts.every((text) => typeof text === 'string') &&
    [ttlMs, pollIntervalMs, run].every((number) => Number.isSafeInteger(number)) &&
    taskStatuses.includes(status as TaskStatus) &&
    (statusMessage === undefined || typeof statusMessage === 'string') &&
    isRecordOf(inputRequests, isStoredRequest) &&
    isRecordOf(asked, (digest) => typeof digest === 'string') &&
    isObject(record['responses']) &&
    isRecordOf(answers, isOutcome) &&
    (status !== 'completed' || (typeof result === 'string' && parseJsonObject(result) !== undefined)) &&
    (status !== 'failed' || isTaskError(error)) &&
    (call === undefined || isStoredCall(call))
  );
}

function isRecordOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return isObject(value) && Object.values(value).every(isMember);
}

function isStoredRequest(request: unknown): boolean {
  return isObject(request) && typeof request['method'] === 'string' && isRecordOf(request['requires'], isObject);
}

function isOutcome(outcome: unknown): boolean {
  if (!isObject(outcome) || typeof outcome['question'] !== 'string') return false;
  const { failure } = outcome;
  if (failure === undefined) return 'answer' in outcome;
  return isObject(failure) && typeof failure['code'] === 'string' && typeof failure['message'] === 'string';
}

function isTaskError(error: unknown): boolean {
  return isObject(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';
}

function isStoredCall(call: unknown): boolean {
  if (!isObject(call)) return false;
  const { requestId, params, authInfo = {}, requestContext } = call;
  return isRequestId(requestId) && [params, authInfo, requestContext].every(isObject);
}
