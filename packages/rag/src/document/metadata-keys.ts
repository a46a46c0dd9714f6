interface MetadataKey {
  /** Writer of the key. Applications can write those of loaders themselves. */
  readonly writer: 'application' | 'loader' | 'chunking' | 'extractor' | 'ingestion' | 'query';
  /**
   * Facts about a text:
   *
   * - `place`: where the text is. Copies of a text list it in `alsoIn`.
   * - `part`: a place that tells the parts of a file apart. The texts of two parts both count their positions from 0, and are never joined.
   * - `description`: something else about the text or its document. Copies may differ in it.
   * - `summary`: a text of a model about the chunk. Copies may differ in it, and further vectors of the chunk do not repeat it.
   * - `owner`: owner of the record. Records that differ in it are not copies, as with each key that is not in the table.
   */
  readonly kind: 'place' | 'part' | 'description' | 'summary' | 'owner';
  /** Whether Quiver relies on its value, so that no scope, heading or extractor can write it. Always so for keys of ingestion and queries. */
  readonly isFixed?: true;
  /** `header`: it is above the text of a passage. `hidden`: no filter of a model needs it. Always so for keys of ingestion. */
  readonly model?: 'header' | 'hidden';
}

/** Each key that Quiver writes or reads; the page about documents has the same table. */
export const metadataKeys = {
  source: { writer: 'loader', kind: 'place', isFixed: true, model: 'header' },
  title: { writer: 'loader', kind: 'place', model: 'header' },
  docId: { writer: 'application', kind: 'part' },
  attachment: { writer: 'loader', kind: 'part' },
  page: { writer: 'chunking', kind: 'part', model: 'header' },
  slide: { writer: 'loader', kind: 'part', model: 'header' },
  sheet: { writer: 'loader', kind: 'part', model: 'header' },
  row: { writer: 'loader', kind: 'part' },
  record: { writer: 'loader', kind: 'part' },
  chapter: { writer: 'loader', kind: 'part' },
  cell: { writer: 'loader', kind: 'part' },
  time: { writer: 'loader', kind: 'part' },
  headings: { writer: 'chunking', kind: 'place', isFixed: true, model: 'header' },
  startIndex: { writer: 'chunking', kind: 'place', isFixed: true, model: 'hidden' },
  endIndex: { writer: 'chunking', kind: 'place', isFixed: true, model: 'hidden' },
  description: { writer: 'loader', kind: 'description' },
  author: { writer: 'loader', kind: 'description' },
  language: { writer: 'loader', kind: 'description' },
  encoding: { writer: 'loader', kind: 'description' },
  commit: { writer: 'application', kind: 'description' },
  subject: { writer: 'loader', kind: 'description' },
  from: { writer: 'loader', kind: 'description' },
  to: { writer: 'loader', kind: 'description' },
  date: { writer: 'loader', kind: 'description' },
  attachments: { writer: 'loader', kind: 'description' },
  endRow: { writer: 'loader', kind: 'description' },
  endCell: { writer: 'loader', kind: 'description' },
  endTime: { writer: 'loader', kind: 'description' },
  slideTitle: { writer: 'loader', kind: 'description' },
  chapterTitle: { writer: 'loader', kind: 'description' },
  endPage: { writer: 'chunking', kind: 'description' },
  box: { writer: 'chunking', kind: 'description', model: 'hidden' },
  pointer: { writer: 'chunking', kind: 'description' },
  codeLanguage: { writer: 'chunking', kind: 'description' },
  tokenCount: { writer: 'chunking', kind: 'description' },
  documentTitle: { writer: 'extractor', kind: 'description' },
  excerptKeywords: { writer: 'extractor', kind: 'description' },
  excerptContext: { writer: 'extractor', kind: 'summary', model: 'hidden' },
  questionsThisExcerptCanAnswer: { writer: 'extractor', kind: 'summary' },
  sectionSummary: { writer: 'extractor', kind: 'summary' },
  prevSectionSummary: { writer: 'extractor', kind: 'summary' },
  nextSectionSummary: { writer: 'extractor', kind: 'summary' },
  previousChunk: { writer: 'ingestion', kind: 'description' },
  textBefore: { writer: 'ingestion', kind: 'description' },
  embedder: { writer: 'ingestion', kind: 'description' },
  vectorOf: { writer: 'ingestion', kind: 'owner' },
  scoped: { writer: 'ingestion', kind: 'owner' },
  scopeKeys: { writer: 'ingestion', kind: 'owner' },
  alsoIn: { writer: 'query', kind: 'description' },
} as const;

type Key = keyof typeof metadataKeys;
type KeyOf<Kind> = { [Name in Key]: (typeof metadataKeys)[Name]['kind'] extends Kind ? Name : never }[Key];

/** Key of a part of a file. */
export type PartKey = KeyOf<'part'>;
/** Key of a place of a text. */
export type PlaceKey = KeyOf<'part' | 'place'>;

function select<Name extends Key>(isSelected: (key: MetadataKey) => boolean): readonly Name[] {
  return (Object.keys(metadataKeys) as Name[]).filter((name) => isSelected(metadataKeys[name]));
}

/**
 * Metadata keys that tell the parts of a file apart: the texts of two parts both count their positions from 0. Loaders write them, and
 * passages never join texts that differ in one of them.
 */
export const partKeys: readonly PartKey[] = select(({ kind }) => kind === 'part');

/** Metadata keys of the places that a result lists in `alsoIn`. */
export const placeKeys: readonly PlaceKey[] = select(({ kind }) => kind === 'part' || kind === 'place');

/**
 * Metadata keys that describe a text or its document, and restrict no caller: loaders, chunking and extractors write them. Copies of a text are
 * one result although they differ in these. Every other key is the application's own, such as a tenant or a team.
 */
export const descriptionKeys: readonly string[] = select(
  ({ writer, kind }) => kind !== 'part' && writer !== 'ingestion' && writer !== 'query',
);

/** Metadata keys in which copies of a text may differ. */
export const copyKeys: ReadonlySet<string> = new Set(select(({ kind }) => kind !== 'owner'));

/** Metadata keys of texts about a chunk, which its further vectors do not repeat. */
export const summaryKeys: ReadonlySet<string> = new Set(select(({ kind }) => kind === 'summary'));

/** Metadata keys that `ingest` writes. Results do not contain them. */
export const ingestKeys: ReadonlySet<string> = new Set(select(({ writer }) => writer === 'ingestion'));

/** Metadata keys that documents must not have: those of `ingest`, and that of results. */
export const reservedKeys: ReadonlySet<string> = new Set([
  ...ingestKeys,
  ...select(({ writer }) => writer === 'query'),
]);

/** Metadata keys that no scope, heading or extractor can write, because Quiver relies on their values. */
export const fixedKeys: ReadonlySet<string> = new Set([
  ...reservedKeys,
  ...select(({ isFixed }) => isFixed === true),
  '__proto__',
]);

/** Metadata keys that no filter of a model needs. */
export const hiddenKeys: ReadonlySet<string> = new Set([...ingestKeys, ...select(({ model }) => model === 'hidden')]);

/** Metadata keys of the part of a file that is above the text of a passage. */
export const headerKeys: readonly PartKey[] = select(({ kind, model }) => kind === 'part' && model === 'header');

/** Metadata key of the context that the extractor `context` writes. */
export const contextKey = 'excerptContext';

/** Metadata key of a record with a further vector: id of its chunk. */
export const vectorOfKey = 'vectorOf';

/** Returns the id of the chunk that a record is a further vector of, or its own. */
export function chunkIdOf({ id, metadata }: { id: string; metadata: Readonly<Record<string, unknown>> }): string {
  const of = metadata[vectorOfKey];
  return typeof of === 'string' ? of : id;
}

/** Metadata key of a result: the other places of its text. It is not stored. */
export const alsoInKey = 'alsoIn';
