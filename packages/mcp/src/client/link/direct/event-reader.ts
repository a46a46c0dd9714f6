/** One event of a stream. A field that did not occur is `undefined`. */
export interface StreamEvent {
  event?: string;
  data?: string;
  id?: string;
  /** Milliseconds, in digits. */
  retry?: string;
}

/**
 * Reads the events of a stream whose text comes in pieces. An event that the stream breaks off in is dropped.
 *
 * @see [HTML, Interpreting an event stream](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)
 */
export function createEventReader(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let pending = '';
  let event: StreamEvent | undefined;
  let isFirst = true;
  let endsWithReturn = false;

  const readLine = (line: string): void => {
    if (line === '') {
      const complete = event;
      event = undefined;
      if (complete) onEvent(complete);
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1);
    if (field === 'data') {
      event ??= {};
      event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    } else if (field === 'event') (event ??= {}).event = value;
    else if (field === 'id' && !value.includes('\0')) (event ??= {}).id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) (event ??= {}).retry = value;
  };

  return (piece) => {
    let text = piece;
    if (isFirst && text.charCodeAt(0) === byteOrderMark) text = text.slice(1);
    isFirst = false;
    if (endsWithReturn && text.startsWith('\n')) text = text.slice(1);
    endsWithReturn = text.endsWith('\r');
    if (text.includes('\r')) text = text.replaceAll(/\r\n?/g, '\n');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = text.slice(start, end);
      readLine(pending === '' ? line : pending + line);
      pending = '';
      start = end + 1;
    }
    pending += text.slice(start);
  };
}

const space = 0x20;
const byteOrderMark = 0xfeff;

/** The text of an event, as it could have come. */
export function toEventText({ event, data, id, retry }: StreamEvent): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(data === undefined ? [] : data.split('\n').map((line) => `data: ${line}`)),
  ];
  return `${lines.join('\n')}\n\n`;
}
