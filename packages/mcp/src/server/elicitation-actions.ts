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
