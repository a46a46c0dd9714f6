import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Returns the messages that arrive as lines, as parsed JSON. */
export function messagesFrom(input: Readable): unknown[] {
  const messages: unknown[] = [];
  createInterface({ input }).on('line', (line) => void messages.push(JSON.parse(line)));
  return messages;
}
