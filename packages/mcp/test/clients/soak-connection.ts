import { connect, type Socket } from 'node:net';

/** A connection that costs so little that 100,000 calls fit into a test: keep-alive, one request at a time, answers of known length. */
export class SoakConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #resolve: ((answer: { head: string; body: string }) => void) | undefined;

  constructor(url: URL) {
    this.#host = url.host;
    this.#socket = connect(Number(url.port), url.hostname);
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  post(body: object, headers = ''): Promise<{ head: string; body: string }> {
    const text = JSON.stringify(body);
    this.#socket.write(
      `POST /mcp HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n` +
        `Accept: application/json, text/event-stream\r\n${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const body = this.#received.toString('utf8', end + 4, end + 4 + length);
    this.#received = Buffer.alloc(0);
    this.#resolve?.({ head, body });
  }
}
