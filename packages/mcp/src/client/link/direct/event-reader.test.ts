import { array, assert, nat, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import { createEventReader, toEventText, type StreamEvent } from './event-reader.js';

function read(...pieces: string[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const reader = createEventReader((event) => events.push(event));
  for (const piece of pieces) reader(piece);
  return events;
}

test('fields, comments, several lines of data and every end of line', () => {
  const text = '\u{FEFF}: hello\r\nevent: message\rid:7\nretry: 20\ndata: a\ndata:b\r\n\r\ndata\n\n';
  expect(read(text)).toEqual([{ event: 'message', id: '7', retry: '20', data: 'a\nb' }, { data: '' }]);
});

test('an event that the stream breaks off in is dropped, as are unknown fields and wrong values', () => {
  expect(read('id: a\0b\nretry: soon\nother: 1\n\ndata: 1\n\ndata: 2\n')).toEqual([{ data: '1' }]);
});

const line = string().map((text) => text.replaceAll(/[\r\n\0]/g, ''));
const event = record({
  event: line,
  id: line,
  data: array(line, { minLength: 1 }).map((lines) => lines.join('\n')),
});

test('what was written is read again, wherever the text is cut', () => {
  assert(
    property(array(event), array(nat()), (events, cuts) => {
      const text = events.map(toEventText).join('');
      const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b);
      expect(read(...at.slice(1).map((end, index) => text.slice(at[index], end)))).toEqual(events);
    }),
  );
});

test('a carriage return and a line feed in two pieces are one end of line', () => {
  expect(read('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([{ data: 'a\nb' }]);
});
