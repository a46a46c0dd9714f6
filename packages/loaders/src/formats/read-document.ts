import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { findFormat } from './document-formats.js';
import { isTitle } from '../structure/title.js';
import {
  limitExceeded,
  requireTexts,
  unreadableDocument,
  type LoadedDocument,
  type LoaderOptions,
} from './document-loader.js';
import { unknownFormat } from './unread-formats.js';

/** Description of a file, apart from functions: it can be sent to another thread. */
export interface ReadRequest extends Pick<
  LoaderOptions,
  'name' | 'encoding' | 'maxUnpackedSize' | 'groupSize' | 'content' | 'password' | 'recognized' | 'draw'
> {
  /** Media type. A known one decides before the extension of the name. */
  readonly mediaType: string | undefined;
}

/** Functions of the caller. */
export type ReadHooks = Pick<LoaderOptions, 'onSkip' | 'signal'>;

/** Maximum depth of files in files, such as emails that are attached to emails. */
const maxDepth = 5;

/**
 * Reads a file on the thread of the caller.
 *
 * @throws as `loadDocument`
 */
export async function readDocument(
  bytes: Uint8Array,
  request: ReadRequest,
  hooks: ReadHooks,
): Promise<LoadedDocument[]> {
  const loaded = await readPart(bytes, request, { ...request, ...hooks, unpacked: { size: 0 } }, 0);
  let texts = 0;
  let characters = 0;
  for (const { docs } of loaded) {
    texts += docs.length;
    for (const { text } of docs) characters += text.length;
  }
  requireTexts(texts, request.name);
  const max = request.maxUnpackedSize;
  if (characters > max) {
    const problem = `it has ${characters} characters of text, and the limit is ${max}`;
    throw limitExceeded(request.name, problem, { limit: 'characters', max, value: characters });
  }
  return request.content === 'all' ? loaded.map(searchAll) : loaded;
}

function searchAll(document: LoadedDocument): LoadedDocument {
  return { ...document, docs: document.docs.map(({ skip: _skip, ...doc }) => doc) };
}

/** Returns the format of a file. @throws `DOCUMENT_TYPE_UNKNOWN` */
export function requireFormat(name: string, mediaType: string | undefined): NonNullable<ReturnType<typeof findFormat>> {
  const format = findFormat(name, mediaType);
  if (format) return format;
  throw unknownFormat(name);
}

/** A file, or a file in it. */
type Part = Pick<ReadRequest, 'name'> & { mediaType?: string | undefined; encoding?: string | undefined };

/** @param options - those that a file shares with the files in it */
async function readPart(
  bytes: Uint8Array,
  { name, mediaType, encoding }: Part,
  options: Omit<LoaderOptions, 'name' | 'encoding' | 'loadPart'>,
  depth: number,
): Promise<LoadedDocument[]> {
  const { load } = requireFormat(name, mediaType);
  if (depth > maxDepth) {
    const problem = `it is nested more than ${maxDepth} files deep`;
    throw limitExceeded(name, problem, { limit: 'nesting', max: maxDepth });
  }
  const loadPart: LoaderOptions['loadPart'] = (content, part) => readPart(content, part, options, depth + 1);
  const loaded = await load(bytes, { ...options, name, encoding, loadPart }).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw isQuiverError(error) ? error : unreadableDocument(name, `${toErrorMessage(error)}.`, error);
  });
  options.signal?.throwIfAborted();
  if (loaded.some(({ docs, picture }) => docs.length > 0 || picture)) return loaded.map(withoutGeneratedTitle);
  throw new QuiverError(
    'DOCUMENT_EMPTY',
    `${name} contains no text. A scanned document needs text recognition first.`,
    { details: { name } },
  );
}

function withoutGeneratedTitle(document: LoadedDocument): LoadedDocument {
  const docs = document.docs.map((doc) => {
    const { title, ...others } = doc.metadata ?? {};
    return typeof title === 'string' && !isTitle(title) ? { ...doc, metadata: others } : doc;
  });
  return { ...document, docs };
}
