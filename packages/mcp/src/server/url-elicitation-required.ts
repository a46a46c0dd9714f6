import { isQuiverError, QuiverError } from '@quiver/core';
import type { ElicitUrlRequest } from '@quiver/core/tools';
import { encodeErrorText, type EncodedResult } from '../content.js';
import { errorCodes } from '../protocol/constants.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import { missingCapabilities } from './client-capabilities.js';
import { elicitationQuestion } from './elicitation.js';
import type { RequestScope } from './request-scope.js';

const code = 'URL_ELICITATION_REQUIRED';

/** The first revision with this error; the stateless one asks instead. */
const firstVersionWithPages = '2025-11-25';

/**
 * What a tool throws that can do nothing before the user has been to some pages, to sign in or to consent. The client shows the
 * pages and calls again. To wait for the user within the call, use `context.mcp.elicitation.sendRequest()` instead.
 *
 * @param message - why, for clients that cannot show pages
 * @example
 * if (!account) throw urlElicitationRequired('Connect your account first.', [{ message: 'Sign in to Acme', url: signInUrl }]);
 */
export function urlElicitationRequired(
  message: string,
  pages: readonly (Omit<ElicitUrlRequest, 'mode'> & { mode?: 'url' })[],
): QuiverError {
  return new QuiverError(code, message, { details: { pages } });
}

export function isUrlElicitationRequired(error: unknown): error is QuiverError {
  return isQuiverError(error, code);
}

/**
 * Tells the client that the user has to visit pages: with error -32042 in 2025-11-25, with a question in the stateless revision. A
 * client that cannot show pages gets the message as an error result.
 *
 * @throws ProtocolError -32042, with the pages
 * @throws `ELICITATION_URL_INVALID`
 * @see [MCP 2025-11-25, URL elicitation required](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error)
 */
export async function sendToPages(scope: RequestScope, error: QuiverError): Promise<EncodedResult> {
  const pages = error.details?.['pages'] as readonly ElicitUrlRequest[];
  const questions = pages.map((page) => elicitationQuestion({ ...page, mode: 'url' }));
  // Answered in a round after the first: the user was there, and the tool is still not content.
  if (scope.era === 'modern')
    await Promise.all(questions.map((question, index) => scope.ask(question, { key: `page-${index + 1}` })));
  else if (scope.protocolVersion >= firstVersionWithPages && canShowPages(scope)) {
    const elicitations = questions.map(({ params, legacyParams }) => ({ ...params, ...legacyParams }));
    throw new ProtocolError(errorCodes.urlElicitationRequired, error.message, { data: { elicitations } });
  }
  return encodeErrorText(`Error: ${error.message}`);
}

function canShowPages({ clientCapabilities }: RequestScope): boolean {
  return missingCapabilities({ elicitation: { url: {} } }, clientCapabilities) === undefined;
}
