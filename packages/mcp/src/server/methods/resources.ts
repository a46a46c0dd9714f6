import { toErrorMessage } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { Resource, ResourceTemplate } from '../../resource.js';
import type { EncodedResult } from '../../content.js';
import { refuseResult, runCallback } from '../failures.js';
import { encodePage } from '../list-page.js';
import type { ServerDefinition, ServerRequest } from '../request.js';
import type { UriVariables } from '../server-config.js';
import { matchUriTemplate } from './uri-template.js';

/** Answers `resources/list`. */
export async function listResources(request: ServerRequest): Promise<EncodedResult> {
  return encodePage(request, 'resources', await resourcesFor(request), ({ uri }) => uri);
}

/** Answers `resources/templates/list`. */
export async function listResourceTemplates(request: ServerRequest): Promise<EncodedResult> {
  return encodePage(request, 'resourceTemplates', await templatesFor(request), ({ uriTemplate }) => uriTemplate);
}

/**
 * Answers `resources/read`.
 *
 * @throws ProtocolError -32602 with `data.uri` for a URI that is neither listed nor matched by a template
 */
export async function readResource(request: ServerRequest): Promise<EncodedResult> {
  const { server, params, callbackContext } = request;
  const uri = params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('resources/read needs the uri of a resource.');
  const found = await findResource(request, uri);
  if (!found) throw resourceNotFound(uri);
  return runCallback(server, `Reading ${uri}`, async () => {
    const content = await server.resources?.getResourceContent({ uri, variables: found.variables, ...callbackContext });
    if (content === undefined || content === null) throw resourceNotFound(uri);
    const contents = [content].flat().map((part) => toContents(part, uri, found.mimeType));
    return { members: `"contents":${JSON.stringify(contents)}` };
  });
}

/** The variables come from the first template that matches, also when the resource is listed. */
async function findResource(
  request: ServerRequest,
  uri: string,
): Promise<{ mimeType: string | undefined; variables: UriVariables } | undefined> {
  const listed = (await resourcesFor(request)).find((resource) => resource.uri === uri);
  for (const { uriTemplate, mimeType } of await templatesFor(request)) {
    const variables = matchOrWarn(request.server, uriTemplate, uri);
    if (variables) return { mimeType: listed?.mimeType ?? mimeType, variables };
  }
  return listed && { mimeType: listed.mimeType, variables: {} };
}

/** One invalid template must not make the others unreadable. */
function matchOrWarn({ logger }: ServerDefinition, uriTemplate: string, uri: string): UriVariables | undefined {
  try {
    return matchUriTemplate(uriTemplate, uri);
  } catch (error) {
    logger.warn(`A resource template is ignored: ${toErrorMessage(error)}`);
    return undefined;
  }
}

function resourcesFor({ server, callbackContext }: ServerRequest): Promise<Resource[]> {
  return runCallback(server, 'Listing resources', async () => {
    const listed = await server.resources?.listResources(callbackContext);
    return Array.isArray(listed) ? listed : refuseResult('resources.listResources', 'an array of resources');
  });
}

function templatesFor({ server, callbackContext }: ServerRequest): Promise<ResourceTemplate[]> {
  return runCallback(server, 'Listing resource templates', async () => {
    if (!server.resources?.resourceTemplates) return [];
    const listed = await server.resources.resourceTemplates(callbackContext);
    return Array.isArray(listed) ? listed : refuseResult('resources.resourceTemplates', 'an array of templates');
  });
}

function toContents(content: unknown, uri: string, mimeType: string | undefined): object {
  if (isObject(content)) {
    const { text, blob, _meta } = content;
    const type = content['mimeType'] ?? mimeType;
    const head = {
      uri: content['uri'] ?? uri,
      ...(typeof type === 'string' && { mimeType: type }),
      ...(isObject(_meta) && { _meta }),
    };
    if (typeof text === 'string') return { ...head, text };
    if (typeof blob === 'string') return { ...head, blob };
    if (blob instanceof Uint8Array) return { ...head, blob: toBase64(blob) };
  }
  return refuseResult('resources.getResourceContent', '{ text } or { blob }');
}

const chunkSize = 0x80_00;

/** Converts in pieces, because the number of arguments of a call is limited. */
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkSize)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkSize));
  return btoa(binary);
}

/** @see [SEP-2164](https://modelcontextprotocol.io/seps/2164-resource-not-found-error) */
function resourceNotFound(uri: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, `Resource not found: ${uri}`, { data: { uri } });
}
