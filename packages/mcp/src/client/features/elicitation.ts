import { QuiverError } from '@quiver/core';
import { validateJsonSchema } from '@quiver/core/schema';
import type { ElicitRequest, ElicitResult } from '@quiver/core/tools';
import { defined } from '../../defined.js';
import { isObject } from '../../protocol/json-rpc.js';
import { parsePageUrl } from '../../protocol/page-url.js';
import type { ElicitationHandler } from '../config/handlers.js';

/**
 * Passes an elicitation request to the handler and checks its result.
 *
 * @throws `ELICITATION_URL_REFUSED` for a page that is not https (`localhost` may use http)
 * @throws `ELICITATION_ANSWER_INVALID` when the handler's content does not match the schema
 */
export async function answerElicitation(
  serverName: string,
  params: Record<string, unknown>,
  handler: ElicitationHandler,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const mode: 'url' | 'form' = params['mode'] === 'url' ? 'url' : 'form';
  const requestedSchema = (params['requestedSchema'] ?? noFields) as ElicitRequest['requestedSchema'];
  const url = mode === 'url' ? requireSafeUrl(serverName, params['url']) : undefined;
  const message = String(params['message']);
  const answer = await handler(defined({ message, requestedSchema, serverName, mode, url }), { signal });
  if (answer.action !== 'accept') return { action: answer.action };
  if (mode === 'url') return { action: 'accept' };
  const content: Record<string, unknown> = {
    ...defaultsOf(requestedSchema),
    ...(answer.content as Record<string, unknown>),
  };
  // The server checks patterns itself: a hostile one can take exponential time.
  const checked = validateJsonSchema(requestedSchema, content, { checkPatterns: false });
  if (!checked.ok) {
    const reasons = checked.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`).join('; ');
    throw new QuiverError(
      'ELICITATION_ANSWER_INVALID',
      `The elicitation handler's answer to MCP server '${serverName}' does not fit the requested schema: ${reasons}`,
    );
  }
  return { action: 'accept', content };
}

const noFields = { type: 'object', properties: {} } as const;

function defaultsOf({ properties }: ElicitRequest['requestedSchema']): Record<string, unknown> {
  const entries = Object.entries(properties ?? {}).flatMap(([name, field]) =>
    isObject(field) && field['default'] !== undefined ? [[name, field['default']] as const] : [],
  );
  return Object.fromEntries(entries);
}

function requireSafeUrl(serverName: string, value: unknown): string {
  const url = parsePageUrl(value);
  if (url) return url.href;
  throw new QuiverError(
    'ELICITATION_URL_REFUSED',
    `MCP server '${serverName}' requested that the user opens a page that is not https. The elicitation request was rejected.`,
  );
}
