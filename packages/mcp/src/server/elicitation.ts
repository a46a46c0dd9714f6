import { validate } from '@quiver/core/schema';
import type { ElicitOptions, ElicitRequest, ElicitResult } from '@quiver/core/tools';
import { isObject } from '../protocol/json-rpc.js';

/** How a tool's question reaches the client; each era has its own way. */
export type AskClient = (question: ElicitRequest, options: ElicitOptions) => Promise<ElicitResult>;

/** The parameters of `elicitation/create`. */
export function toElicitParams({ message, requestedSchema }: ElicitRequest): {
  mode: 'form';
  message: string;
  requestedSchema: object;
} {
  return { mode: 'form', message, requestedSchema };
}

/** Whether a client that declares these capabilities shows forms. An empty declaration, the older way, means forms. */
export function canShowForms(clientCapabilities: unknown): boolean {
  const elicitation = isObject(clientCapabilities) ? clientCapabilities['elicitation'] : undefined;
  return isObject(elicitation) && (elicitation['form'] !== undefined || Object.keys(elicitation).length === 0);
}

/**
 * Takes an answer that says what it must: an action, and with `accept` content that fits the requested schema.
 *
 * @returns `undefined` for everything else
 */
export async function parseElicitResult(
  answer: unknown,
  { requestedSchema }: ElicitRequest,
): Promise<ElicitResult | undefined> {
  if (!isObject(answer)) return undefined;
  const { action, content } = answer;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') return undefined;
  const checked = await validate(requestedSchema, content ?? {});
  return checked.ok ? { action, content: content ?? {} } : undefined;
}
