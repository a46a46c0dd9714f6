import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { limitEvents } from './http-answer.js';

const mebibyte = 1024 * 1024;
const lines = Buffer.from(`data: ${'x'.repeat(1017)}\n`.repeat(1024));

/** An answer of which `count` MiB have come, each with the given end. */
async function readEvents(count: number, end: string): Promise<Readable> {
  const message = new Readable({ read: () => {} });
  limitEvents(message as IncomingMessage);
  const failed = once(message, 'error').catch(() => undefined);
  message.resume();
  for (let sent = 0; sent < count && !message.destroyed; sent += 1)
    message.push(Buffer.concat([lines, Buffer.from(end)]));
  if (message.destroyed) await failed;
  return message;
}

describe('an event stream', () => {
  it('goes on for ever while its events end', async () => {
    expect(lines.length).toBe(mebibyte);
    expect((await readEvents(200, '\n')).destroyed).toBe(false);
    expect((await readEvents(200, '\r\n\r\n')).destroyed).toBe(false);
  });

  it('ends with an event that is longer than 64 MiB, however short its lines are', async () => {
    expect((await readEvents(64, '')).destroyed).toBe(false);
    const message = await readEvents(65, '');
    expect(message.destroyed).toBe(true);
    expect(message.errored?.message).toMatch(/longer than 67108864 bytes/);
  });

  it('sees the end of an event whose empty line comes in two parts', async () => {
    const message = new Readable({ read: () => {} });
    limitEvents(message as IncomingMessage);
    message.resume();
    for (let sent = 0; sent < 130; sent += 1) {
      message.push(lines);
      message.push(Buffer.from('\n'));
    }
    expect(message.destroyed).toBe(false);
  });
});
