import { QuiverError } from '@quiver/core';
import { validate } from '@quiver/core/schema';
import type { ElicitRequest, ElicitResult, ElicitUrlRequest } from '@quiver/core/tools';
import { isObject } from '../protocol/json-rpc.js';
import type { ClientQuestion } from './client-question.js';

/**
 * A form that the client shows to its user, or a page that it sends them to.
 *
 * @throws `ELICITATION_URL_INVALID`
 */
export function elicitationQuestion(request: ElicitRequest | ElicitUrlRequest): ClientQuestion<ElicitResult> {
  return request.mode === 'url' ? urlQuestion(request) : formQuestion(request);
}

function formQuestion({ message, requestedSchema }: ElicitRequest): ClientQuestion<ElicitResult> {
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    requires: { elicitation: { form: {} } },
    subject: 'ELICITATION',
    what: 'user input',
    parse: async (answer) => {
      const result = parseAction(answer);
      if (result?.action !== 'accept') return result;
      const content = pickRequested(requestedSchema, (answer as { content?: unknown }).content);
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
function urlQuestion({ message, url, elicitationId }: ElicitUrlRequest): ClientQuestion<ElicitResult> {
  requireSafeUrl(url);
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
    legacyParams: { elicitationId: elicitationId ?? crypto.randomUUID() },
    requires: { elicitation: { url: {} } },
    subject: 'ELICITATION',
    what: 'the user to visit a page',
    parse: parseAction,
  };
}

function parseAction(answer: unknown): ElicitResult | undefined {
  const action = isObject(answer) ? answer['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? { action } : undefined;
}

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** People are sent to encrypted pages only, and never with a password in the address. */
function requireSafeUrl(url: string): void {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    // Refused below, like everything else that is not a safe address.
  }
  const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopbackNames.has(parsed.hostname));
  if (!parsed || !isSafe || parsed.username !== '' || parsed.password !== '') {
    throw new QuiverError(
      'ELICITATION_URL_INVALID',
      'A page to send the user to needs an https URL without a user name (http only on this machine).',
    );
  }
}
