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
