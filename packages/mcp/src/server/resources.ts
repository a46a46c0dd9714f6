import { toErrorMessage } from '@quiver/core';
import { invalidParams, ProtocolError } from '../protocol/protocol-error.js';
import { isObject } from '../protocol/json-rpc.js';
import type { Resource, ResourceTemplate } from '../resource.js';
import { createCallbackContext, type CallbackContext } from './callback-context.js';
import { refuseResult, toCallbackError } from './failure-report.js';
import { pageOf, type ListPage } from './list-page.js';
import type { RequestScope } from './request-scope.js';
import type { ServerDefinition } from './server-definition.js';
import { matchUriTemplate, type UriVariables } from './uri-template.js';

/** `resources/list`. */
export async function listResources(server: ServerDefinition, scope: RequestScope): Promise<ListPage<Resource>> {
  const resources = await resourcesFor(server, createCallbackContext(scope));
  return pageOf(resources, ({ uri }) => uri, { params: scope.params, pageSize: server.pageSize });
}

/** `resources/templates/list`. */
export async function listResourceTemplates(
  server: ServerDefinition,
  scope: RequestScope,
): Promise<ListPage<ResourceTemplate>> {
  const templates = await templatesFor(server, createCallbackContext(scope));
  return pageOf(templates, ({ uriTemplate }) => uriTemplate, { params: scope.params, pageSize: server.pageSize });
}

/**
 * `resources/read`.
 *
 * @returns the contents, ready for the wire
 * @throws ProtocolError -32602 with `data.uri` for a URI that is neither listed nor matched by a template
 */
export async function readResource(server: ServerDefinition, scope: RequestScope): Promise<object[]> {
  const uri = scope.params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('resources/read needs the uri of a resource.');
  const context = createCallbackContext(scope);
  const found = await findResource(server, uri, context);
  if (!found) throw resourceNotFound(uri);
  try {
    const content = await server.resources?.getResourceContent({ uri, variables: found.variables, ...context });
    if (content === undefined || content === null) throw resourceNotFound(uri);
    return (Array.isArray(content) ? content : [content]).map((part) => toContents(part, uri, found.mimeType));
  } catch (error) {
    throw toCallbackError(server.failures, `Reading ${uri}`, error);
  }
}

/** The variables come from the first template that matches, also when the resource is listed. */
async function findResource(
  server: ServerDefinition,
  uri: string,
  context: CallbackContext,
): Promise<{ mimeType: string | undefined; variables: UriVariables } | undefined> {
  const listed = (await resourcesFor(server, context)).find((resource) => resource.uri === uri);
  for (const { uriTemplate, mimeType } of await templatesFor(server, context)) {
    const variables = matchOrWarn(server, uriTemplate, uri);
    if (variables) return { mimeType: listed?.mimeType ?? mimeType, variables };
  }
  return listed && { mimeType: listed.mimeType, variables: {} };
}

/** One broken template must not make the others unreadable. */
function matchOrWarn({ logger }: ServerDefinition, uriTemplate: string, uri: string): UriVariables | undefined {
  try {
    return matchUriTemplate(uriTemplate, uri);
  } catch (error) {
    logger.warn(`A resource template was left out: ${toErrorMessage(error)}`);
    return undefined;
  }
}

async function resourcesFor({ resources, failures }: ServerDefinition, context: CallbackContext): Promise<Resource[]> {
  try {
    const listed = await resources?.listResources(context);
    return Array.isArray(listed) ? listed : refuseResult('resources.listResources', 'an array of resources');
  } catch (error) {
    throw toCallbackError(failures, 'Listing resources', error);
  }
}

async function templatesFor(
  { resources, failures }: ServerDefinition,
  context: CallbackContext,
): Promise<ResourceTemplate[]> {
  if (!resources?.resourceTemplates) return [];
  try {
    const listed = await resources.resourceTemplates(context);
    return Array.isArray(listed) ? listed : refuseResult('resources.resourceTemplates', 'an array of templates');
  } catch (error) {
    throw toCallbackError(failures, 'Listing resource templates', error);
  }
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

/** In pieces, since a call takes only so many arguments. */
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkSize)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkSize));
  return btoa(binary);
}

/** @see [SEP-2164](https://modelcontextprotocol.io/seps/2164-resource-not-found-error) */
function resourceNotFound(uri: string): ProtocolError {
  const { code, message } = invalidParams(`Resource not found: ${uri}`);
  return new ProtocolError(code, message, { data: { uri } });
}
