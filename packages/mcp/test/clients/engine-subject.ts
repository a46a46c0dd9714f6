import type { LogMessage } from '../../src/client/config/handlers.js';
import { callTool } from '../../src/client/tools/call-tool.js';
import { createRemoteServer } from './remote-server.ts';
import { createSdkSubject, type SdkSubject, type SdkSubjectOptions } from './sdk-subject.ts';

/** The client of this package with the interface of the SDK's client, to compare both. */
function createEngineSubject(options: SdkSubjectOptions): SdkSubject {
  const { definition, timeout, onProgress, onLog, onToolsChanged } = options;
  const log = ({ level, message }: LogMessage): void => void (level === 'info' && onLog?.(message));
  const server = createRemoteServer(
    { ...definition, ...(onLog && { log, enableServerLogs: true }), tasks: false },
    timeout,
  );
  if (onToolsChanged) server.handlers.onListChanged.tools = onToolsChanged;
  return {
    listTools: async () => (await server.list('tools/list').get()).items,
    callTool: (call) => callTool(server, { ...call, ...(onProgress && { onProgress }) }),
    status: () => {
      const { transport: _, error: _error, retryIn: _retryIn, ...known } = server.connection.status();
      // With a handler for changes, the next attempt may have begun.
      return known.state === 'connecting' ? { state: 'failed' } : known;
    },
    get sessionId() {
      return server.connection.engine?.channel.sessionId;
    },
    disconnect: () => server.disconnect(),
  };
}

export const createSubject = { sdk: createSdkSubject, engine: createEngineSubject };
