import { isLoggingLevel } from '../../../protocol/constants.js';
import {
  isObject,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type Params,
} from '../../../protocol/json-rpc.js';
import { isPlainMeta } from './plain-meta.js';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isOptional = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value);

const isProgressToken = (value: unknown): boolean => isText(value) || Number.isInteger(value);
const isPresent = (value: unknown): boolean => value !== undefined;

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const noParams: Shape = {};
const shapes: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  [
    'notifications/progress',
    { progressToken: isProgressToken, progress: isNumber, total: isOptional(isNumber), message: isOptional(isText) },
  ],
  ['notifications/message', { level: isLoggingLevel, logger: isOptional(isText), data: isPresent }],
  ['notifications/resources/updated', { uri: isText }],
  ['notifications/tools/list_changed', noParams],
  ['notifications/resources/list_changed', noParams],
  ['notifications/prompts/list_changed', noParams],
]);

/** Tells whether a message is a notification that needs no closer look. The SDK judges all others. */
export function isPlainNotification(message: unknown): message is JsonRpcNotification {
  if (!isObject(message) || message['jsonrpc'] !== '2.0' || 'id' in message) return false;
  const shape = shapes.get(message['method']);
  const { params = {} } = message;
  if (!shape || Object.keys(message).length > ('params' in message ? 3 : 2)) return false;
  return isObject(params) && isOfShape(params, shape);
}

function isOfShape({ _meta, ...params }: Params, shape: Shape): boolean {
  if (!isPlainMeta(_meta)) return false;
  for (const key in params) if (!Object.hasOwn(shape, key)) return false;
  return Object.entries(shape).every(([key, is]) => is(params[key]));
}

/** Tells whether a message only asks whether this side is there. */
export function isPlainPing(message: unknown): message is JsonRpcRequest {
  if (!isObject(message) || Object.keys(message).length !== 3) return false;
  return message['jsonrpc'] === '2.0' && message['method'] === 'ping' && isRequestId(message['id']);
}
