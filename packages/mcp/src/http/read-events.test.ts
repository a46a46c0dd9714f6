import { describe, expect, it } from 'vitest';
import { readEvents } from './read-events.js';
import { maxResponseLength, type HttpResponse } from './send.js';

/** A response whose body arrives in these pieces. */
function responseOf(pieces: Iterable<string>): HttpResponse {
  return {
    status: 200,
    header: () => undefined,
    text: () => Promise.reject(new Error('not used')),
    read: async (onText) => {
      for (const piece of pieces) onText(piece);
    },
    discard: () => {},
  };
}

async function eventsOf(text: string, pieceLength: number): Promise<object[]> {
  const events: object[] = [];
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${pieceLength}}`, 'g')) ?? [];
  await readEvents(responseOf(pieces), {
    onEvent: ({ id, event, data }) => events.push({ ...(id !== undefined && { id }), ...(event && { event }), data }),
    onRetry: (retry) => events.push({ retry }),
  });
  return events;
}

describe('readEvents', () => {
  it('reads the same events, however the text is divided', async () => {
    const text =
      '\uFEFF: comment\r\n\r\nevent: endpoint\ndata: /messages\n\nid: 1\nretry: 20\ndata:\n\ndata: {"a":\ndata: 1}\r\n\r\ndata:x\n\nunknown: 1\ndata: incomplete';
    const expected = [
      { event: 'endpoint', data: '/messages' },
      { retry: 20 },
      { id: '1', data: '' },
      { data: '{"a":\n1}' },
      { data: 'x' },
    ];
    for (const length of [1, 2, 3, 7, 1000]) expect(await eventsOf(text, length)).toEqual(expected);
  });

  const line = `data: ${'x'.repeat(1017)}\n`;
  const mebibyte = line.repeat(1024);

  it('reads without end while events end', async () => {
    let events = 0;
    const pieces = Array.from({ length: 130 }, () => `${mebibyte}\n`);
    await readEvents(responseOf(pieces), { onEvent: () => (events += 1) });
    expect(events).toBe(130);
  });

  it('rejects an event that exceeds the limit, however short its lines are', async () => {
    const pieces = Array.from({ length: 66 }, () => mebibyte);
    const read = readEvents(responseOf(pieces), { onEvent: () => {} });
    await expect(read).rejects.toThrow(String(maxResponseLength));
  });
});
