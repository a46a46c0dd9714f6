// Keeps an index in sync with a folder: node src/sync-folder.ts ./notes
import { watch } from 'node:fs';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { loadDocuments } from '@quiver/loaders';
import { LocalVector } from '@quiver/rag/local';

const [, , folder = 'notes', path = '.index'] = process.argv;
const target = {
  store: new LocalVector({ path }),
  indexName: 'notes',
  embedder: createLexicalEmbedder(),
};

async function sync(): Promise<void> {
  const skipped: string[] = [];
  const documents = loadDocuments(folder, {
    onSkip: ({ path, reason }) => skipped.push(`${path} (${reason})`),
  });
  const onProgress = ({ share = 0, secondsLeft = 0 }): void =>
    console.error(
      `${Math.round(100 * share)} %, ${Math.ceil(secondsLeft)} s left`,
    );
  const { added, unchanged, removed } = await ingest({
    ...target,
    documents,
    cleanup: 'all',
    onProgress,
  });
  const left =
    skipped.length === 0 ? 'nothing skipped' : `skipped ${skipped.join(', ')}`;
  console.log(
    `${added} added, ${unchanged} unchanged, ${removed} removed, ${left}`,
  );
}

let running = sync();
let timer: NodeJS.Timeout | undefined;
watch(folder, { recursive: true }, () => {
  clearTimeout(timer);
  // Programs write a file in several steps.
  timer = setTimeout(
    () => (running = running.then(sync).catch(console.error)),
    500,
  );
});
