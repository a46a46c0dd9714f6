import { QuiverError } from '@quiver/core';
import type { ElicitOptions, ElicitRequest, ElicitResult, ElicitUrlRequest } from '@quiver/core/tools';
import { elicitationQuestion } from './elicitation.js';
import { askLegacyClient } from './legacy/ask-legacy-client.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { ServerDefinition } from './server-definition.js';

export interface ElicitationActions {
  /**
   * Asks the user of a connected client outside of any call. Only clients with a session can be asked this way; inside a tool
   * use `context.mcp.elicitation`, which reaches every client that called.
   *
   * @param options - `sessionId` tells whom to ask; may be left out while one client is connected
   * @throws `ELICITATION_NO_CLIENT` when no such client is connected, or several are
   * @throws `ELICITATION_NOT_SUPPORTED`, `ELICITATION_TIMEOUT`, `ELICITATION_FAILED`, `ELICITATION_URL_INVALID`
   */
  sendRequest(
    request: ElicitRequest | ElicitUrlRequest,
    options?: ElicitOptions & { sessionId?: string },
  ): Promise<ElicitResult>;
  /**
   * Tells the client that the user is done with a page it was sent to (`mode: 'url'`), so that it can go on. Clients of the stateless
   * revision are not told; they call again by themselves.
   *
   * @throws `ELICITATION_NO_CLIENT`, `ELICITATION_FAILED`
   */
  notifyComplete(page: { elicitationId: string; sessionId?: string }): Promise<void>;
}

export function createElicitationActions({ peers }: ServerDefinition): ElicitationActions {
  return {
    sendRequest: async (request, options = {}) => {
      const peer = choosePeer(peers, options.sessionId);
      return askLegacyClient({
        peer,
        question: elicitationQuestion(request),
        options,
        link: { send: (message) => peer.send?.(JSON.stringify(message)) ?? false },
      });
    },
    notifyComplete: async ({ elicitationId, sessionId }) => {
      const method = 'notifications/elicitation/complete';
      const text = JSON.stringify({ jsonrpc: '2.0', method, params: { elicitationId } });
      if (choosePeer(peers, sessionId).send?.(text)) return;
      throw new QuiverError('ELICITATION_FAILED', 'The client cannot be told: it keeps no stream open.');
    },
  };
}

function choosePeer(peers: ReadonlySet<LegacyPeer>, sessionId: string | undefined): LegacyPeer {
  const reachable = [...peers].filter((peer) => peer.initialized && (sessionId === undefined || peer.id === sessionId));
  const [peer] = reachable;
  if (peer && reachable.length === 1) return peer;
  const reason = peer
    ? `${reachable.length} clients are connected: say which one with { sessionId }`
    : 'no client with a session is connected, or not the one that was named';
  throw new QuiverError('ELICITATION_NO_CLIENT', `There is nobody to ask: ${reason}.`);
}
