import { QuiverError } from '@quiver/core';
import { validate } from '@quiver/core/schema';
import type { ElicitRequest, ElicitResult, ElicitUrlRequest } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import type { ClientRequest } from './client-request.js';

/**
 * Returns the request for user input: a form, or a page that the client opens.
 *
 * @throws `ELICITATION_URL_INVALID`
 */
export function elicitationRequest(request: ElicitRequest | ElicitUrlRequest): ClientRequest<ElicitResult> {
  return request.mode === 'url' ? urlRequest(request) : formRequest(request);
}

function formRequest({ message, requestedSchema }: ElicitRequest): ClientRequest<ElicitResult> {
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    requires: { elicitation: { form: {} } },
    subject: 'ELICITATION',
    what: 'user input',
    parse: async (result) => {
      const parsed = parseAction(result);
      if (parsed?.action !== 'accept') return parsed;
      const content = pickRequested(requestedSchema, (result as { content?: unknown }).content);
      const checked = await validate(requestedSchema, content);
      return checked.ok ? { action: 'accept', content } : undefined;
    },
  };
}

/** Returns the members that the schema names. Others, and `__proto__`, never reach a tool. */
function pickRequested({ properties }: ElicitRequest['requestedSchema'], content: unknown = {}): unknown {
  if (!isObject(content) || !isObject(properties)) return content;
  const entries = Object.entries(content).filter(([key]) => key !== '__proto__' && Object.hasOwn(properties, key));
  return Object.fromEntries(entries);
}

/** @see [MCP, URL mode elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests) */
function urlRequest({ message, url, elicitationId }: ElicitUrlRequest): ClientRequest<ElicitResult> {
  requireSafeUrl(url);
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
    legacyParams: { elicitationId: elicitationId ?? crypto.randomUUID() },
    requires: { elicitation: { url: {} } },
    subject: 'ELICITATION',
    what: 'that the user opens a page',
    parse: parseAction,
  };
}

function parseAction(result: unknown): ElicitResult | undefined {
  const action = isObject(result) ? result['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? { action } : undefined;
}

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Users are sent to encrypted pages only, and never with a password in the URL. */
function requireSafeUrl(url: string): void {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    // Refused below, like every other unsafe URL.
  }
  const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopbackNames.has(parsed.hostname));
  if (!parsed || !isSafe || parsed.username !== '' || parsed.password !== '') {
    throw new QuiverError(
      'ELICITATION_URL_INVALID',
      'Cannot send the elicitation request: its URL must be https without a user name (http only for a loopback host).',
    );
  }
}
