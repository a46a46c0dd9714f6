/**
 * Metadata keys that tell the parts of a file apart: the texts of two parts both count their positions from 0. Loaders write them, and
 * passages never join texts that differ in one of them.
 */
export const partKeys = [
  'docId',
  'attachment',
  'page',
  'slide',
  'sheet',
  'row',
  'record',
  'chapter',
  'cell',
  'time',
] as const;

/**
 * Metadata keys that describe a text or its document, and restrict nobody: loaders, chunking and extractors write them. Copies of a text are
 * one result although they differ in these. Every other key is the application's own, such as a tenant or a team.
 */
export const descriptionKeys = [
  'source',
  'title',
  'description',
  'author',
  'language',
  'encoding',
  'commit',
  'kind',
  'subject',
  'from',
  'to',
  'date',
  'attachments',
  'endRow',
  'endCell',
  'endTime',
  'slideTitle',
  'chapterTitle',
  'pointer',
  'box',
  'headings',
  'startIndex',
  'endIndex',
  'documentTitle',
  'excerptContext',
  'excerptKeywords',
  'questionsThisExcerptCanAnswer',
  'sectionSummary',
  'prevSectionSummary',
  'nextSectionSummary',
] as const;
