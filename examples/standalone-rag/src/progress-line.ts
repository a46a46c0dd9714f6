import type { IngestProgress } from '@quiver/rag';

/** Line that shows how far an ingestion is. */
export interface ProgressLine {
  /** @param total - number of documents */
  show(progress: IngestProgress, total: number): void;
  end(): void;
}

/** Creates a line with the share of the documents and the time left, which redraws itself in a terminal. In a pipe, each is a line. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const started = performance.now();
  let width = 0;
  return {
    show({ documents, added, moved, unchanged }, total) {
      const passages = added + moved + unchanged;
      const part = Math.min(1, documents / Math.max(total, 1));
      const seconds = Math.ceil(((performance.now() - started) / 1000) * (1 / part - 1));
      const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      const of = stream.isTTY ? ` of ${total}` : '';
      const left = stream.isTTY && part > 0 && part < 1 ? `, ${clock} left` : '';
      const line = `Indexing   ${documents}${of} documents, ${passages} passages, ${added} embedded${left}`;
      // The spaces overwrite a longer line before.
      stream.write(stream.isTTY ? `\r${line.padEnd(width)}` : `${line}\n`);
      width = line.length;
    },
    end() {
      if (stream.isTTY && width > 0) stream.write('\n');
    },
  };
}
