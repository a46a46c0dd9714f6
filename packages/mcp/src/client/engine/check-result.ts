import { taskStatuses, type TaskStatus } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { findShapeError, type SchemaName } from '../../protocol/schemas.js';

/**
 * Checks the result of a request with the schema of its method. Most tool results consist of text, and need no schema.
 *
 * @returns `undefined` for results that need no further check
 * @throws `TypeError` when the result violates the protocol
 */
export function checkResult(
  method: string,
  schema: SchemaName,
  result: Params,
  isModern: boolean,
): Promise<void> | undefined {
  if (method === 'tools/call') {
    // Legacy servers may omit the content, and only modern ones may send structured content that is not an object.
    if (!isModern) result['content'] ??= [];
    const { content, structuredContent } = result;
    if (content === undefined || (!isModern && structuredContent !== undefined && !isObject(structuredContent)))
      throw new TypeError(`Invalid result for ${method}: content or structuredContent has the wrong type`);
    if (isTextResult(result)) return undefined;
  }
  return requireShape(method, schema, result);
}

async function requireShape(method: string, schema: SchemaName, result: Params): Promise<void> {
  const problem = await findShapeError(schema, result);
  if (problem !== undefined) throw new TypeError(`Invalid result for ${method}: ${problem}`);
}

function isTextResult({ content, structuredContent, isError, _meta }: Params): boolean {
  if (!Array.isArray(content) || (isError !== undefined && typeof isError !== 'boolean')) return false;
  if (structuredContent !== undefined && !isObject(structuredContent)) return false;
  if (_meta !== undefined && !isObject(_meta)) return false;
  return content.every(isPlainText);
}

function isPlainText(part: unknown): boolean {
  if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return false;
  return part['annotations'] === undefined && part['_meta'] === undefined;
}

/** Result of a tool call that the server runs as a task. Members that only describe it are not checked. */
export interface CreatedTask extends Params {
  readonly resultType: 'task';
  readonly taskId: string;
  readonly status: TaskStatus;
}

/** The id is sent in a header. */
const maxTaskIdLength = 1024;

/** Returns whether the server runs a call as a task. @throws `TypeError` when its result violates the protocol */
export function isCreatedTask(result: Params): result is CreatedTask {
  const { resultType, taskId } = result;
  if (resultType !== 'task') return false;
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > maxTaskIdLength)
    throw new TypeError(`Invalid result for tools/call: taskId is not a text of 1 to ${maxTaskIdLength} characters`);
  requireTaskStatus('tools/call', result);
  return true;
}

/** Returns the status of a task. @throws `TypeError` for one that the protocol does not define */
export function requireTaskStatus(method: string, { status }: Params): TaskStatus {
  const known = taskStatuses.find((candidate) => candidate === status);
  if (known === undefined) throw new TypeError(`Invalid result for ${method}: status is ${JSON.stringify(status)}`);
  return known;
}
