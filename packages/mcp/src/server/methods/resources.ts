import { toErrorMessage } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import type { Resource, ResourceTemplate } from '../../resource.js';
import type { Result } from '../../content.js';
import { variesByCaller, type ScopedItem } from '../tools/catalog.js';
import { runCallback } from '../failures.js';
import { providerOf, type ResourceMatch } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { listItems, listVisibleItems } from './list-items.js';
import type { ServerState } from '../definition/server-state.js';
import type { UriVariables } from '../definition/server-config.js';
import { matchUriTemplate } from './uri-template.js';

/**
 * Answers `resources/read`.
 *
 * @throws ProtocolError -32602 with `data.uri` for a URI that is neither listed nor matched by a template
 */
export async function readResource(request: ServerRequest): Promise<Result> {
  const { server, params } = request;
  const uri = params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('resources/read needs the uri of a resource.');
  const found = await findResource(request, uri);
  if (!found) throw resourceNotFound(uri);
  const { item, ...match } = found;
  return runCallback(server, `Reading ${uri}`, () => providerOf(server, item).answer(request, item, match));
}

/**
 * Returns a template of the caller's list. Clients also send the URIs of listed resources, which have nothing to complete.
 *
 * @throws ProtocolError -32602 for what is in neither list of the caller
 */
export async function findVisibleTemplate(request: ServerRequest, uri: string): Promise<ResourceTemplate | undefined> {
  if (!request.server.capabilities.resources) return undefined;
  const templates = await listVisibleItems(request, 'resources/templates/list');
  const template = templates.find(({ uriTemplate }) => uriTemplate === uri);
  if (template) return template;
  const listed = await listVisibleItems(request, 'resources/list');
  if (listed.some((resource) => resource.uri === uri)) return undefined;
  throw invalidParams(`Resource template not found: ${uri}`);
}

/** Returns whether to notify a caller that a resource was updated: not of one that it cannot read. */
export async function concernsResource(request: ServerRequest, uri: string): Promise<boolean> {
  const { server } = request;
  if (areFiltered(server) === false) return true;
  // The failure of a callback was logged.
  const found = await findResource(request, uri).catch(() => {});
  return found !== undefined || areFiltered(server) !== true;
}

/** Learns with the first subscription whether callers may read different resources, so that no update precedes the response. */
export async function learnScopes(request: ServerRequest): Promise<void> {
  if (request.server.capabilities.resources && areFiltered(request.server) === undefined)
    await findResource(request, '').catch(() => {});
}

/** Whether callers may read different resources; `undefined` before the first list. */
export function areFiltered(server: ServerState): boolean | undefined {
  const [listed, matched] = [variesByCaller(server, 'resource'), variesByCaller(server, 'resourceTemplate')];
  return listed === true || matched === true || (listed === undefined || matched === undefined ? undefined : false);
}

/**
 * Returns a resource that the caller can see. The variables come from the first template that matches, also when the resource is listed;
 * the template decides about the visibility of resources that are not listed.
 */
async function findResource(
  request: ServerRequest,
  uri: string,
): Promise<(ResourceMatch & { item: Resource | ResourceTemplate }) | undefined> {
  const { server } = request;
  const resources = await listItems(request, 'resources/list');
  const listed = resources.find((resource) => resource.uri === uri) ?? findHidden(request, resources, uri);
  for (const template of await listItems(request, 'resources/templates/list')) {
    const variables = matchOrWarn(server, template.uriTemplate, uri);
    if (!variables) continue;
    const item = listed
      ? ({ ...listed, type: 'resource' } as const)
      : ({ ...template, type: 'resourceTemplate' } as const);
    if (!server.catalog.sees(request, item)) return undefined;
    return { uri, mimeType: listed?.mimeType ?? template.mimeType, variables, item: listed ?? template };
  }
  if (!listed || !server.catalog.sees(request, { ...listed, type: 'resource' })) return undefined;
  return { uri, mimeType: listed.mimeType, variables: {}, item: listed };
}

/** Returns a hidden resource of which a URI is another spelling: templates decode it, and the pairs of a query have any order. */
function findHidden(
  request: ServerRequest,
  resources: readonly (Resource & ScopedItem)[],
  uri: string,
): (Resource & ScopedItem) | undefined {
  const { catalog } = request.server;
  if (catalog.isFiltered('resource') !== true) return undefined;
  const spelling = toSpelling(uri);
  return resources.find(
    (resource) =>
      toSpelling(resource.uri) === spelling && !catalog.sees(request, { ...resource, type: 'resource' as const }),
  );
}

/** Returns what the spellings of a URI have in common. */
function toSpelling(uri: string): string {
  let decoded = uri;
  try {
    decoded = decodeURIComponent(uri);
  } catch {
    // It matches no template.
  }
  return decoded.split(/[?&;]/).toSorted().join('&');
}

/** One invalid template must not make the others unreadable. */
function matchOrWarn({ logger }: ServerState, uriTemplate: string, uri: string): UriVariables | undefined {
  try {
    return matchUriTemplate(uriTemplate, uri);
  } catch (error) {
    logger.warn(`A resource template is ignored: ${toErrorMessage(error)}`);
    return undefined;
  }
}

/**
 * Subscribes to a resource of a provider.
 *
 * @returns a function that ends it
 * @throws ProtocolError -32603 with the reason of a server that declines
 */
export async function watchProvided(request: ServerRequest, uri: string): Promise<(() => void) | undefined> {
  const { server } = request;
  if (!canWatch(server)) return undefined;
  const found = await findResource(request, uri);
  if (!found) return undefined;
  const { item } = found;
  return runCallback(server, `Subscribing to ${uri}`, async () => providerOf(server, item).watch?.(item, uri));
}

/** Returns whether resources may change elsewhere. */
export function canWatch({ providers }: ServerState): boolean {
  return providers.some(({ watch }) => watch);
}

/** @see [SEP-2164](https://modelcontextprotocol.io/seps/2164-resource-not-found-error) */
export function resourceNotFound(uri: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, `Resource not found: ${uri}`, { data: { uri } });
}
