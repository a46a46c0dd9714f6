// Quiver as its guides recommend it: a folder is loaded, chunked and stored by `ingest()` with its defaults, and the query tools search.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const indexName = 'field';

/**
 * @param folder - folder of the documents
 * @param options.sources - the documents, as paths from the folder
 * @param options.packages - a clone of the repository whose built packages are measured. Default: this one
 * @param options.chunk - options of chunking in place of the defaults
 * @returns `chunks`, every stored text that is searched; `systems` with a function that searches; and `seconds`, the time of loading
 */
export async function openQuiver(folder, { sources, packages = repository, chunk = {} }) {
  const load = (name, path) => import(pathToFileURL(resolveExport(packages, name, path)).href);
  const { createGraphRAGTool, createLexicalEmbedder, createVectorQueryTool, ingest } = await load('rag', '.');
  const { LocalVector } = await load('rag', './local');
  const { loadDocuments } = await importLoaders(packages, load);
  const { RequestContext } = await load('core', './request-context');

  const vectorStore = new LocalVector();
  const model = createLexicalEmbedder();
  const skipped = [];
  const start = performance.now();
  const documents = loadDocuments(folder, { include: sources, onSkip: (file) => skipped.push(file) });
  // The second names of the options, which earlier versions have alone.
  await ingest({ documents, vectorStore, indexName, model, chunkOptions: chunk });
  const seconds = (performance.now() - start) / 1000;

  const common = { vectorStore, indexName, model };
  const tools = {
    keyword: createVectorQueryTool({ ...common, mode: 'keyword' }),
    hybrid: createVectorQueryTool({ ...common, mode: 'hybrid' }),
    graph: createGraphRAGTool(common),
  };
  const systems = Object.entries(tools).map(([name, tool]) => ({
    name,
    search: async (queryText, topK) => {
      const options = { onFailure: 'throw', requestContext: new RequestContext() };
      const result = await tool.execute({ queryText, topK }, options);
      return result.sources.map((match) => ({ ...toPassage(match), score: match.confidence ?? match.score ?? 0 }));
    },
  }));
  return { chunks: await readChunks(vectorStore), systems, seconds, skipped };
}

/** A text that several documents contain is stored once, with all of them. */
function toPassage({ document, metadata: { source, alsoIn = [] } }) {
  return { text: document, source, sources: [source, ...alsoIn.map((place) => place.source ?? place)] };
}

async function readChunks(vectorStore) {
  const chunks = [];
  let cursor;
  do {
    const page = await vectorStore.listVectors({ indexName, limit: 1000, ...(cursor && { cursor }) });
    chunks.push(...page.records.map(toPassage));
    cursor = page.nextCursor;
  } while (cursor);
  return chunks;
}

/** Loaders are a separate package; in earlier versions they are part of `@quiver/rag`. */
async function importLoaders(packages, load) {
  return existsSync(join(packages, 'packages/loaders')) ? load('loaders', '.') : load('rag', './node');
}

function resolveExport(packages, name, path) {
  const folder = join(packages, 'packages', name);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, exports[path].default);
}
