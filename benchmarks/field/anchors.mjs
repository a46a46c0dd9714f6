// Loaders and splitters of other libraries, with MiniSearch for their chunks. Their chunks are kept in the cache.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { installPackages } from '../install-packages.mjs';

const packages = {
  langchain: [
    '@langchain/community@1.1.29',
    '@langchain/core@1.4.0',
    '@langchain/textsplitters@1.0.2',
    '@langchain/classic@1.0.50',
    'pdf-parse@1.1.1',
    'mammoth@1.13.0',
    'officeparser@6.0.4',
    'epub2@3.0.2',
    'html-to-text@9.0.5',
    'd3-dsv@3.0.1',
  ],
  llamaindex: ['@llamaindex/readers@3.1.22', '@llamaindex/core@0.6.23', '@llamaindex/env@0.1.31'],
};

/** Names of the systems: that of a program, with options as a query string. */
export const anchors = ['langchain', 'langchain?size=4000', 'llamaindex'];

/**
 * @param name - one of `anchors`
 * @param folder - folder of the documents
 * @param options.formatOf - format of each document
 * @param options.cache - folder for the texts
 * @returns as `openQuiver`; `seconds` is the time of reading, measured when the texts were made
 */
export async function openAnchor(name, folder, { formatOf, cache }) {
  const texts = await readTexts(name, folder, { formatOf, cache });
  const { load, remove } = installPackages(['minisearch@7.2.0'], [new URL('anchors/minisearch.mjs', import.meta.url)]);
  const { createSearch } = await load('minisearch.mjs');
  remove();
  const own = [...formatOf.keys()].map((source) => ({ source, ...texts[source] }));
  const chunks = own.flatMap(({ source, chunks: ofFile = [] }) => ofFile.map((text) => ({ source, text })));
  const search = createSearch(chunks.map(({ text }) => text));
  return {
    chunks,
    seconds: own.reduce((sum, { seconds }) => sum + seconds, 0),
    skipped: own.flatMap(({ source, reason }) => (reason ? [{ path: source, reason }] : [])),
    systems: [
      {
        name: 'MiniSearch',
        search: async (question, topK) => search(question, topK).map(({ id, score }) => ({ ...chunks[id], score })),
      },
    ],
  };
}

/** Seconds after which a file is left out. One reader of HTML takes minutes for a page of 200 kB. */
const maxSeconds = 60;

/** Returns, for each document, `{ chunks, seconds }` or `{ reason, seconds }`. Files that are in the cache are not read again. */
async function readTexts(name, folder, { formatOf, cache }) {
  const [library, options = ''] = name.split('?');
  const program = new URL(`anchors/${library}.mjs`, import.meta.url);
  const version = createHash('sha256')
    .update([name, ...packages[library]].join(' '))
    .update(readFileSync(program));
  const file = join(cache, 'texts', `${library}-${version.digest('hex').slice(0, 16)}.json`);
  const texts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const absent = [...formatOf].filter(([source]) => !(source in texts));
  if (absent.length === 0) return texts;
  console.error(`Installing ${name} and reading ${absent.length} files …`);
  mkdirSync(dirname(file), { recursive: true });
  const { folder: installed, remove } = installPackages(packages[library], [program]);
  const reader = startReader(`${pathToFileURL(join(installed, `${library}.mjs`)).href}?${options}`);
  try {
    for (const [source, format] of absent) {
      const start = performance.now();
      const read = await reader.read(join(folder, source), format);
      texts[source] = { ...read, seconds: (performance.now() - start) / 1000 };
    }
  } finally {
    // A run that fails continues with the next file.
    writeFileSync(file, JSON.stringify(texts));
    await reader.end();
    remove();
  }
  return texts;
}

/** Reads files one after the other in a thread with a program, which is replaced when it takes too long. */
function startReader(workerData) {
  const create = () => new Worker(new URL('anchors/reader.mjs', import.meta.url), { workerData, stderr: true });
  let thread = create();
  const read = async (path, format) => {
    const timeout = AbortSignal.timeout(maxSeconds * 1000);
    thread.postMessage({ path, format }, []);
    try {
      const [{ chunks, reason = 'no loader' }] = await once(thread, 'message', { signal: timeout });
      return chunks ? { chunks } : { reason };
    } catch (error) {
      await thread.terminate();
      thread = create();
      return { reason: timeout.aborted ? `more than ${maxSeconds} s` : String(error.message).slice(0, 80) };
    }
  };
  return { read, end: () => thread.terminate() };
}
