import { createHash } from 'node:crypto';
import { findFormat } from '../formats/document-formats.js';
import type { LoadedDocument } from '../formats/document-loader.js';
import { loadHtml } from '../formats/html.js';
import { findRepeated, onPages, skipRepeated } from '../structure/repeated-blocks.js';

/** Number of pages of a folder that are compared. */
const mostCompared = 12;
/** Fewer pages tell nothing about what a folder repeats. */
const fewestCompared = 6;

interface ReadFile {
  readonly documents?: readonly LoadedDocument[];
}

interface SampledPage {
  readonly path: string;
  readonly key: string;
}

/**
 * The HTML pages of a folder. Text that most of them repeat, such as a footer, is not searched.
 *
 * A page is compared with up to 12 pages below the nearest folder that has at least 6. They are those whose paths have the lowest hashes: a
 * page that is added or removed replaces at most one of them, and one page that differs changes nothing for the others. So the texts of a
 * page depend neither on the order of the files nor on an edit of a neighbor.
 */
export class FolderPages<File extends ReadFile> {
  /** Compared pages by the folder that they are below. */
  readonly #samples = new Map<string, SampledPage[]>();
  /** Blocks that a folder repeats. */
  readonly #repeated = new Map<string, Promise<ReadonlySet<string>>>();
  /** Compared pages that were not returned so far. */
  readonly #ahead = new Map<string, Promise<File>>();
  readonly #returned = new Set<string>();

  /** @param paths - files of the folder, in any format */
  constructor(paths: readonly string[]) {
    for (const path of paths) if (isPage(path)) this.#addToSamples(path);
  }

  /**
   * Reads a file; what its folder repeats is not searched.
   *
   * @param readSample - reads a page for a comparison, unless it is large
   */
  async load(
    path: string,
    read: (path: string) => Promise<File>,
    readSample: (path: string) => Promise<File>,
  ): Promise<File> {
    const repeated = await this.#findRepeated(path, readSample);
    const compared = await this.#ahead.get(path);
    this.#ahead.delete(path);
    this.#returned.add(path);
    const file = compared?.documents ? compared : await read(path);
    if (repeated.size === 0 || !file.documents) return file;
    const documents = file.documents.map(({ docs, ...document }) => ({
      ...document,
      docs: docs.map((doc) => skipRepeated(doc, repeated, onPages)),
    }));
    return { ...file, documents };
  }

  #addToSamples(path: string): void {
    const key = createHash('sha256').update(path).digest('hex');
    for (const folder of foldersAbove(path)) {
      const sample = this.#samples.get(folder) ?? [];
      this.#samples.set(folder, sample);
      if (sample.length === mostCompared && key > sample.at(-1)!.key) continue;
      sample.push({ path, key });
      sample.sort((a, b) => (a.key < b.key ? -1 : 1)).splice(mostCompared);
    }
  }

  #findRepeated(path: string, readSample: (path: string) => Promise<File>): Promise<ReadonlySet<string>> {
    const enough = (folder: string): boolean => (this.#samples.get(folder)?.length ?? 0) >= fewestCompared;
    const folder = isPage(path) ? foldersAbove(path).find(enough) : undefined;
    if (folder === undefined) return Promise.resolve(new Set());
    let repeated = this.#repeated.get(folder);
    if (!repeated) {
      repeated = this.#compare(this.#samples.get(folder)!, readSample);
      this.#repeated.set(folder, repeated);
    }
    return repeated;
  }

  async #compare(
    sample: readonly SampledPage[],
    readSample: (path: string) => Promise<File>,
  ): Promise<ReadonlySet<string>> {
    const files = sample.map(({ path }) => {
      const file = this.#ahead.get(path) ?? readSample(path);
      if (!this.#returned.has(path)) this.#ahead.set(path, file);
      return file;
    });
    const docs = (await Promise.all(files)).flatMap(({ documents = [] }) =>
      documents.flatMap((document) => document.docs),
    );
    // Copies of a page count once.
    const texts = new Map(docs.map((doc) => [doc.text, doc]));
    return findRepeated([...texts.values()], onPages);
  }
}

/** Whether a file is compared with others. */
export function isPage(path: string): boolean {
  return findFormat(path)?.load === loadHtml;
}

/** Returns the folders around a file, innermost first; the outermost is empty. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let folder = path; folder !== '';) {
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')));
    folders.push(folder);
  }
  return folders;
}
