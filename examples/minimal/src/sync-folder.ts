// Keeps an index in sync with a folder: node src/sync-folder.ts ./notes
import { watch } from 'node:fs';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { loadDocuments } from '@quiver/loaders';
import { LocalVector } from '@quiver/rag/local';

const [, , folder = 'notes', path = '.index'] = process.argv;
const store = new LocalVector({ path });
const embedder = createLexicalEmbedder();

async function sync(): Promise<void> {
  const skipped: string[] = [];
  const { added, unchanged, removed } = await ingest({
    vectorStore: store,
    indexName: 'notes',
    model: embedder,
    documents: loadDocuments(folder, {
      onSkip: ({ path, reason }) => skipped.push(`${path} (${reason})`),
    }),
    cleanup: 'all',
    onProgress: ({ share = 0, secondsLeft = 0 }) =>
      console.error(
        `${Math.round(100 * share)} %, ${Math.ceil(secondsLeft)} s left`,
      ),
  });
  const rest = skipped.length > 0 ? `skipped ${skipped}` : 'nothing skipped';
  console.log(
    `${added} added, ${unchanged} unchanged, ${removed} removed, ${rest}`,
  );
}

let running = sync();
let timer: NodeJS.Timeout | undefined;
const rerun = () => (running = running.then(sync).catch(console.error));
watch(folder, { recursive: true }, () => {
  clearTimeout(timer);
  // Programs write a file in several steps.
  timer = setTimeout(rerun, 500);
});
