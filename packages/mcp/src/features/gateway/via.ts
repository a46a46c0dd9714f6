import { escapeForLog, type Logger } from '@quiver/core';
import { viaKey } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { ProtocolError, refused } from '../../protocol/protocol-error.js';
import type { ServerRequest } from '../../server/request.js';

/** Gateways that a request may pass. A ring of gateways that replace the ids of others ends here. */
const maxGateways = 16;

/** Part of a gateway that finds requests which it has sent itself, directly or through others. */
export class Via {
  readonly #id = crypto.randomUUID();
  readonly #logger: Logger;
  #isLogged = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  of({ meta }: ServerRequest): readonly string[] {
    return [...passed(meta), this.#id];
  }

  /** @throws ProtocolError with HTTP status 508 for a request that this gateway has sent, or that has passed too many */
  requireNoLoop({ meta, method }: ServerRequest): void {
    const ids = passed(meta);
    const isOwn = ids.includes(this.#id);
    if (!isOwn && ids.length < maxGateways) return;
    if (!this.#isLogged)
      this.#logger.warn(
        escapeForLog(
          `Refused ${method}: the request came from this server, through ${ids.length} gateway(s) that offer each other's items. Its items are left out there. Remove one of the proxies, unless this is intended.`,
        ),
      );
    this.#isLogged = true;
    const reason = isOwn ? 'the request returned to a gateway that sent it' : `it passed ${ids.length} gateways`;
    throw refused(508, `Loop detected: ${reason}`, { data: { loop: true } });
  }
}

/** Returns whether a server refused a request because it had sent it. */
export function isLoop(error: unknown): boolean {
  const cause = error instanceof ProtocolError ? error : error instanceof Error ? error.cause : undefined;
  return cause instanceof ProtocolError && isObject(cause.data) && cause.data['loop'] === true;
}

function passed(meta: ServerRequest['meta']): readonly string[] {
  const via = meta?.[viaKey];
  return Array.isArray(via) ? via.filter((id) => typeof id === 'string').slice(0, maxGateways) : [];
}
