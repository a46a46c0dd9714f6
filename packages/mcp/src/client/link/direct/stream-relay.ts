import type { RequestId } from '../../../protocol/json-rpc.js';
import { withAnswerId } from './answer.js';
import { toEventText, type StreamEvent } from './event-reader.js';

/** Passes on an event stream that somebody else reads to its end. */
export interface StreamRelay {
  take(event: StreamEvent): void;
  /** The stream is over, or broke: an error would take with it what was not read yet. */
  end(): void;
  /** The stream as if the request had had this id. */
  open(id: RequestId): ReadableStream<Uint8Array>;
}

/** @param requestId - the id that the server knows the request by */
export function createStreamRelay(requestId: RequestId): StreamRelay {
  let waiting: ((controller: ReadableStreamDefaultController<Uint8Array>, id: RequestId) => void)[] | undefined = [];
  let opened: { controller: ReadableStreamDefaultController<Uint8Array>; id: RequestId } | undefined;
  const encoder = new TextEncoder();

  const pass = (step: (controller: ReadableStreamDefaultController<Uint8Array>, id: RequestId) => void): void => {
    if (opened) step(opened.controller, opened.id);
    else waiting?.push(step);
  };
  return {
    take: (event) =>
      pass((controller, id) => {
        const { data } = event;
        const changed = data === undefined ? event : { ...event, data: withAnswerId(data, requestId, id) };
        controller.enqueue(encoder.encode(toEventText(changed)));
      }),
    end: () => pass((controller) => controller.close()),
    open: (id) =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          const steps = waiting ?? [];
          waiting = undefined;
          opened = { controller, id };
          for (const step of steps) step(controller, id);
        },
        cancel: () => {
          opened = undefined;
        },
      }),
  };
}
