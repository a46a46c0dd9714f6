import { QuiverError } from '@quiver/core';
import type { ElicitRequest, ElicitResult, McpRoot, SampleRequest } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import type { ClientRequest } from './client-request.js';
import { elicitationRequest } from './elicitation.js';
import { samplingRequest } from './sampling.js';

/** Returns the request for the roots of the client. */
export function rootsRequest(): ClientRequest<McpRoot[]> {
  return {
    method: 'roots/list',
    requires: { roots: {} },
    subject: 'ROOTS',
    what: "the client's roots",
    parse: (result) => {
      const roots = isObject(result) ? result['roots'] : undefined;
      return Array.isArray(roots) && roots.every(isRoot) ? roots : undefined;
    },
  };
}

function isRoot(root: unknown): root is McpRoot {
  return isObject(root) && typeof root['uri'] === 'string';
}

/**
 * Returns a request given as method and params. Its result is the client's, unchanged after validation; form content keeps only
 * requested members.
 *
 * @throws `CLIENT_REQUEST_UNKNOWN` for a method that servers do not send
 */
export function rawRequest(request: { method: string; params?: Record<string, unknown> }): ClientRequest<unknown> {
  const typed = typedRequest(request);
  return {
    ...typed,
    parse: async (result) => {
      const parsed = await typed.parse(result);
      if (parsed === undefined || typed.subject !== 'ELICITATION' || !isObject(result)) return parsed && result;
      const { content: _, ...rest } = result;
      return { ...rest, ...(parsed as ElicitResult) };
    },
  };
}

function typedRequest({
  method,
  params,
}: {
  method: string;
  params?: Record<string, unknown>;
}): ClientRequest<unknown> {
  switch (method) {
    // The two casts: the author of the tool is responsible for the params, and the client checks them.
    case 'elicitation/create':
      return elicitationRequest(params as unknown as ElicitRequest);
    case 'sampling/createMessage':
      return samplingRequest(params as unknown as SampleRequest);
    case 'roots/list':
      return rootsRequest();
    default:
      throw new QuiverError(
        'CLIENT_REQUEST_UNKNOWN',
        `A server cannot send '${method}' to a client; it can send elicitation/create, sampling/createMessage and roots/list.`,
      );
  }
}
