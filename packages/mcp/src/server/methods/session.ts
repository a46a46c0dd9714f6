import { Result } from '../../content.js';
import { isLoggingLevel, LEGACY_VERSIONS, loggingLevels } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams, methodNotFound } from '../../protocol/protocol-error.js';
import type { Implementation, ServerCapabilities } from '../../protocol/types.js';
import type { LegacySession } from '../client/legacy-session.js';
import { MAX_SUBSCRIPTIONS } from '../limits.js';
import type { ServerRequest } from '../request.js';
import { learnScopes, watchProvided } from './resources.js';

function sessionOf({ session }: ServerRequest): LegacySession {
  // The cast: these methods are of the legacy era, whose requests have a session.
  return session as LegacySession;
}

/** Answers `initialize`. An unknown version is answered with the newest one of the server; the client decides whether to continue. */
export async function initialize(request: ServerRequest): Promise<Result> {
  const { server, params = {} } = request;
  const session = sessionOf(request);
  const { protocolVersion: requested, clientInfo, capabilities } = params;
  if (typeof requested !== 'string') throw invalidParams('initialize needs a protocolVersion.');
  const protocolVersion = LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
  await session.update(() => ({
    initialized: true,
    protocolVersion,
    clientCapabilities: isObject(capabilities) ? capabilities : {},
    // Name and version are shown and never trusted; other members pass.
    ...(isObject(clientInfo) && { clientInfo: clientInfo as unknown as Implementation }),
  }));
  // The client may now receive what other instances send.
  if (server.instance.isShared && !session.isStateless) await server.instance.start();
  return Result.of({
    protocolVersion,
    capabilities: capabilitiesFor(session, server.capabilities),
    serverInfo: server.serverInfo,
    instructions: server.instructions,
  });
}

/** Without a session there is nothing to subscribe with. */
function capabilitiesFor({ isStateless }: LegacySession, capabilities: ServerCapabilities): ServerCapabilities {
  if (!isStateless || !capabilities.resources) return capabilities;
  return { ...capabilities, resources: { ...capabilities.resources, subscribe: false } };
}

export async function setLogLevel(request: ServerRequest): Promise<Result> {
  const session = sessionOf(request);
  const level = request.params?.['level'];
  if (!isLoggingLevel(level)) throw invalidParams(`The log level must be one of ${loggingLevels.join(', ')}.`);
  await session.update(() => ({ logLevel: level }));
  return Result.of({});
}

/** Answers `resources/subscribe`. A resource that does not exist, or is hidden, can be subscribed to: its updates are not sent. */
export async function subscribe(request: ServerRequest): Promise<Result> {
  const uri = requireUri(request);
  const session = sessionOf(request);
  if (session.isStateless)
    throw methodNotFound('resources/subscribe needs a session, and this server has none (serverless)');
  await learnScopes(request);
  const stopWatching = await watchProvided(request, uri);
  try {
    await session.update((client) => {
      const subscriptions = new Set(client.subscriptions).add(uri);
      if (subscriptions.size > MAX_SUBSCRIPTIONS)
        throw invalidParams(`One client can subscribe to at most ${MAX_SUBSCRIPTIONS} resources.`);
      return { subscriptions };
    });
  } finally {
    // From here on the session keeps the resource watched, as long as its client is subscribed.
    stopWatching?.();
  }
  return Result.of({});
}

export async function unsubscribe(request: ServerRequest): Promise<Result> {
  const uri = requireUri(request);
  const session = sessionOf(request);
  await session.update((client) => ({
    subscriptions: new Set(Array.from(client.subscriptions).filter((subscribed) => subscribed !== uri)),
  }));
  return Result.of({});
}

/** @throws ProtocolError -32601 when the server has no subscriptions, -32602 without a URI */
function requireUri({ server, method, params }: ServerRequest): string {
  if (!server.capabilities.resources?.subscribe) throw methodNotFound(method);
  const uri = params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('The request needs the uri of a resource.');
  return uri;
}
