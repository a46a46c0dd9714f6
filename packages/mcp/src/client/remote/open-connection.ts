import { QuiverError, isQuiverError, untilAborted, withinTime } from '@quiver/core';
import { defined } from '../../defined.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerTarget } from '../config/server-definition.js';
import { Engine, type EngineOptions } from '../engine/engine.js';
import { negotiate, type NegotiationMode } from '../engine/negotiate.js';
import { asSentence, isNetworkError, reasonOf, statusOf } from '../engine/request-error.js';
import { ConnectionLostError, type Channel } from '../transports/channel.js';
import { resolveHttpOptions } from '../transports/http-options.js';

export interface OpenConnectionOptions extends Omit<EngineOptions, 'channel'> {
  readonly name: string;
  readonly target: ServerTarget;
  /** Capabilities that the handshake of a legacy connection declares. */
  readonly handshakeCapabilities: ClientCapabilities;
  /** Milliseconds until the connection must be open, and for which a server that responded before may refuse connections. */
  readonly limit: number;
  /** Whether to resume the session of the definition. */
  readonly resume: boolean;
}

/**
 * Connects to a server and negotiates the protocol version.
 *
 * @param signal - ends the attempt
 * @throws `MCP_CLIENT_CONNECT_FAILED` with the reason; `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in
 */
export async function openConnection(options: OpenConnectionOptions, signal: AbortSignal): Promise<Engine> {
  const { name, target, limit } = options;
  const channels: Channel[] = [];
  const ended = new AbortController();
  try {
    return await withinTime(
      untilAborted(() => open(options, channels, ended.signal), signal),
      limit,
      () => new Error(`no response within ${limit} ms; raise \`connectTimeout\` if it needs longer`),
    );
  } catch (error) {
    ended.abort();
    for (const channel of channels) {
      channel.abort?.();
      channel.close().catch(() => {});
    }
    if (isQuiverError(error, 'OAUTH_AUTHORIZATION_REQUIRED')) throw error;
    const failed = channels.at(-1);
    const status = statusOf(error);
    const reason = asSentence(reasonOf(error, failed));
    throw new QuiverError(
      'MCP_CLIENT_CONNECT_FAILED',
      `Could not connect to MCP server '${name}' (${describeTarget(target)}): ${reason}${adviceFor(error, target)}`,
      { cause: error, details: defined({ server: name, stderr: failed?.stderr || undefined, httpStatus: status }) },
    );
  }
}

async function open(options: OpenConnectionOptions, channels: Channel[], ended: AbortSignal): Promise<Engine> {
  const { target } = options;
  const connect = async (channel: Channel, mode: NegotiationMode, isResumed = false): Promise<Engine> => {
    // The attempt ended while modules were loaded, or its end ended the first process: nothing would close this channel.
    ended.throwIfAborted();
    channels.push(channel);
    const engine = new Engine({ ...options, channel });
    await channel.start(engine);
    if (isResumed) engine.server = { era: 'legacy' };
    else await negotiate(engine, { ...options, mode, url: target.kind === 'http' ? target.url : undefined });
    engine.traceSession();
    return engine;
  };
  const { protocol = 'legacy' } = target.definition;
  if (target.kind === 'in-process') {
    const { createInProcessChannel } = await import('../transports/in-process.js');
    return connect(createInProcessChannel(target.definition.server), protocol);
  }
  if (target.kind === 'stdio') {
    const { StdioChannel } = await import('../transports/stdio-channel.js');
    try {
      return await connect(new StdioChannel(target.definition), protocol);
    } catch (error) {
      // Some legacy servers end when their first message is not the handshake.
      if (protocol !== 'auto' || !(error instanceof ConnectionLostError)) throw error;
      return connect(new StdioChannel(target.definition), 'legacy');
    }
  }
  const { url, definition } = target;
  const isSsePath = url.pathname.endsWith('/sse');
  const { transport = isSsePath ? 'sse' : 'auto', protocol: wanted = 'auto' } = definition;
  if (transport !== 'sse') {
    const { HttpChannel } = await import('../transports/http-channel.js');
    const { reconnectionOptions: reconnection } = definition;
    const sessionId = options.resume ? definition.sessionId : undefined;
    const httpOptions = await resolveHttpOptions(definition, url);
    const channel = new HttpChannel({ ...httpOptions, reconnection, sessionId, restartTimeout: options.limit });
    try {
      return await connect(channel, wanted, sessionId !== undefined);
    } catch (error) {
      // A server that opened a session and then does not know it has this transport.
      const isSessionLost = channel.sessionId !== undefined && statusOf(error) === 404;
      if (transport === 'http' || wanted === 'modern' || isSessionLost || !isReactionOfSseServer(error)) throw error;
    }
  }
  const { SseChannel } = await import('../transports/sse-channel.js');
  const { fetch } = definition.eventSourceInit ?? {};
  const openStream = fetch && (await resolveHttpOptions({ url, fetch }, url)).send;
  return connect(new SseChannel(await resolveHttpOptions(definition, url), openStream), 'legacy');
}

/**
 * Returns whether a server with HTTP+SSE only reacts in this way to the first POST. A modern error comes from a server with more.
 *
 * @see [MCP 2025-11-25, Transports – Backwards Compatibility](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility)
 */
function isReactionOfSseServer(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return !(error instanceof ProtocolError && error.code <= -32_020 && error.code >= -32_099);
}

function describeTarget(target: ServerTarget): string {
  if (target.kind === 'http') return `${target.url.origin}${target.url.pathname}`;
  return target.kind === 'stdio' ? target.definition.command : 'in this process';
}

/** Returns what the user can do about an error, where the error itself does not say it. */
function adviceFor(error: unknown, target: ServerTarget): string {
  if (target.kind !== 'http') return '';
  if (isNetworkError(error)) return ' Check that the server runs, and that `url` is right.';
  if (statusOf(error) !== 401 || target.definition.authProvider || target.definition.auth) return '';
  const { headers, requestInit } = target.definition;
  if (headers || requestInit?.headers)
    return ' The server rejected the request with its `headers`: check that their token is complete, valid, and meant for this server.';
  return ' The server requires authorization: set `auth: "oauth"` or `authProvider` in its definition, or send a token with `headers`.';
}
