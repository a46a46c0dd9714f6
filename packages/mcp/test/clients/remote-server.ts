import { createApplication } from '../../src/client/features/application.js';
import { RemoteServer } from '../../src/client/remote/remote-server.js';
import type { ServerDefinition } from '../../src/client/config/server-definition.js';

/** Returns one server as a client has it. */
export function createRemoteServer(definition: ServerDefinition, timeout: number): RemoteServer {
  return new RemoteServer({ name: 'it', definition, timeout, createApplication });
}
