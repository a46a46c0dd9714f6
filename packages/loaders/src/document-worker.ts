/**
 * The program of the worker thread that reads files, started by `document-worker-pool.ts`. In the package and in the sources it is in the
 * same folder as the code of the pool, so that one relative URL leads to it.
 *
 * @internal
 * @module
 */

import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { LoadedDocument } from './formats/document-loader.js';
import { readDocument } from './formats/read-document.js';
import { serializeError, workerMark, type FromWorker, type SerializedError, type ToWorker } from './worker/messages.js';

/** Size of the parts in which documents are sent: the receiving thread runs other work between them. */
const maxTexts = 1000;
const maxCharacters = 1_000_000;

if (parentPort && workerData === workerMark) serve(parentPort);

/** Reads the files that are received, one after another. */
function serve(port: MessagePort): void {
  const send = (message: FromWorker): void => port.postMessage(message);
  let onNext: () => void = () => undefined;

  const read = async ({ request, bytes }: ToWorker & { type: 'read' }): Promise<void> => {
    let error: SerializedError | undefined;
    try {
      const documents = await readDocument(bytes, request, {
        onSkip: ({ error, ...file }) =>
          send({ type: 'skipped', file, error: error === undefined ? undefined : serializeError(error) }),
        signal: undefined,
      });
      let received: Promise<unknown> = Promise.resolve();
      for (const part of splitDocuments(documents)) {
        await received;
        received = new Promise<void>((resolve) => (onNext = resolve));
        send({ type: 'documents', documents: part });
      }
    } catch (thrown) {
      error = serializeError(thrown);
    }
    // `process.memoryUsage()` also reads the memory of the process, from a file.
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
    send({ type: 'end', error, usedMemory: heap + external });
  };

  port.on('message', (message: ToWorker) => {
    if (message.type === 'read') void read(message);
    else onNext();
  });
  send({ type: 'ready' });
}

/** Yields the documents in parts, each with a number of texts. */
function* splitDocuments(
  documents: readonly LoadedDocument[],
): Generator<{ index: number; document: LoadedDocument }[]> {
  let part: { index: number; document: LoadedDocument }[] = [];
  let texts = 0;
  let characters = 0;
  for (const [index, { docs, ...document }] of documents.entries()) {
    // For example an email without text and with attachments.
    if (docs.length === 0) part.push({ index, document: { ...document, docs } });
    let start = 0;
    for (let end = 1; end <= docs.length; end += 1) {
      texts += 1;
      characters += docs[end - 1]!.text.length;
      const isFull = texts >= maxTexts || characters >= maxCharacters;
      if (!isFull && end < docs.length) continue;
      part.push({ index, document: { ...document, docs: docs.slice(start, end) } });
      start = end;
      if (!isFull) continue;
      yield part;
      part = [];
      texts = 0;
      characters = 0;
    }
  }
  if (part.length > 0) yield part;
}
