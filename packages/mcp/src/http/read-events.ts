import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { maxResponseLength, tooLong, type HttpResponse } from './send.js';

export interface EventHandlers {
  readonly onEvent: (event: EventSourceMessage) => void;
  /** Receives the pause, in milliseconds, before the client resumes the stream. */
  readonly onRetry?: (milliseconds: number) => void;
}

const byteOrderMark = 0xfeff;

/**
 * Reads the events of a stream to its end. Drops an incomplete last event.
 *
 * @throws what the handlers throw; `TypeError` when the stream breaks off, or an event exceeds `maxResponseLength`
 */
export async function readEvents(response: HttpResponse, { onEvent, onRetry }: EventHandlers): Promise<void> {
  let isFirst = true;
  const parser = createParser({
    maxBufferSize: maxResponseLength,
    onEvent,
    ...(onRetry && { onRetry }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLong();
    },
  });
  await response.read((text) => {
    parser.feed(isFirst && text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text);
    isFirst &&= text === '';
  });
}
