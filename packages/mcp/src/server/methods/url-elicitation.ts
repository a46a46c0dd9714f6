import { QuiverError } from '@quiver/core';
import type { ElicitUrlRequest } from '@quiver/core/tools';
import { encodeFailure, type Result } from '../../content.js';
import { errorCodes, REQUIRED_PAGES_VERSION } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { elicitationRequest, missingCapabilities } from '../client/client-requests.js';
import type { ServerRequest } from '../request.js';

/** Code of the errors of {@link urlElicitationRequired}. */
export const urlElicitationCode = 'URL_ELICITATION_REQUIRED';

/**
 * Returns the error that a tool throws when the user must open pages first, to sign in or to consent. The client shows the pages and
 * calls again. To wait for the user within the call, use `context.mcp.elicitation.sendRequest()` instead.
 *
 * @param message - reason, for clients that cannot show pages
 * @example
 * if (!account) throw urlElicitationRequired('Connect your account first.', [{ message: 'Sign in to Acme', url: signInUrl }]);
 */
export function urlElicitationRequired(
  message: string,
  pages: readonly (Omit<ElicitUrlRequest, 'mode'> & { mode?: 'url' })[],
): QuiverError {
  return new QuiverError(urlElicitationCode, message, { details: { pages } });
}

/**
 * Requests that the user opens pages: with error -32042 in 2025-11-25, with an elicitation request in the modern era. A client that
 * cannot show pages receives the message as an error result.
 *
 * @throws ProtocolError -32042, with the pages
 * @throws `ELICITATION_URL_INVALID`
 * @see [MCP 2025-11-25, URL elicitation required](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error)
 */
export async function requestPages(request: ServerRequest, error: QuiverError): Promise<Result> {
  const pages = error.details?.['pages'] as readonly ElicitUrlRequest[];
  const elicitations = pages.map((page) => elicitationRequest({ ...page, mode: 'url' }));
  // Settles in a round after the first: the user opened the pages, and the tool threw again.
  if (request.era === 'modern')
    await Promise.all(elicitations.map((page, index) => request.ask(() => page, { key: `page-${index + 1}` })));
  else if (
    request.client.protocolVersion >= REQUIRED_PAGES_VERSION &&
    !missingCapabilities({ elicitation: { url: {} } }, request.client.clientCapabilities)
  ) {
    const data = { elicitations: elicitations.map(({ params, legacyParams }) => ({ ...params, ...legacyParams })) };
    throw new ProtocolError(errorCodes.urlElicitationRequired, error.message, { data });
  }
  return encodeFailure(error.message);
}
