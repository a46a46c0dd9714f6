import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterTest } from '../after-test.ts';

/** Fault in the bytes that the server sends back. */
export type Fault =
  | { kind: 'none' }
  /** Every chunk comes later. */
  | { kind: 'latency'; milliseconds: number }
  /** The connection is reset before the response. */
  | { kind: 'reset' }
  /** The connection stays open without data. */
  | { kind: 'half-open' }
  /** Number of response bytes before the connection ends. */
  | { kind: 'truncate'; bytes: number };

export interface FaultProxy {
  readonly port: number;
  /** Holds for connections that exist, too. */
  setFault(fault: Fault): void;
  /** Whether something reached the server since the fault was set. */
  readonly passed: number;
  close(): Promise<void>;
}

/** A TCP proxy on localhost that damages the responses of a server, until the test is over. */
export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  let fault: Fault = { kind: 'none' };
  let passed = 0;
  const sockets = new Set<Socket>();

  const answer = (client: Socket, chunk: Buffer): void => {
    switch (fault.kind) {
      case 'none':
        client.write(chunk);
        break;
      case 'latency':
        setTimeout(() => client.writable && client.write(chunk), fault.milliseconds);
        break;
      case 'reset':
        client.resetAndDestroy();
        break;
      case 'truncate':
        client.end(chunk.subarray(0, fault.bytes));
        break;
      case 'half-open':
        break;
    }
  };

  const server = createServer((client) => {
    const upstream = createConnection(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk: Buffer) => {
      passed += 1;
      upstream.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('data', (chunk: Buffer) => answer(client, chunk));
    upstream.on('close', () => fault.kind !== 'half-open' && client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  afterTest(close);
  return {
    port: (server.address() as AddressInfo).port,
    setFault: (next) => {
      fault = next;
      passed = 0;
    },
    get passed() {
      return passed;
    },
    close,
  };
}
