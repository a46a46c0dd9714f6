import { advice } from './cut-texts.js';
import type { SizeLimit } from './size-limit.js';

/** A block of a result that is not text: an image, audio or another file. */
export interface FileBlock {
  /** Data in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/**
 * Returns which of the files of a result stay within its limit, in their order, and the limit that is left for its texts.
 *
 * @param blocks - `undefined` for a block that is not a file
 */
export function fitFiles(
  blocks: readonly (FileBlock | undefined)[],
  limit: SizeLimit,
): { readonly isLeftOut: readonly boolean[]; readonly textLimit: SizeLimit } {
  let size = 0;
  const isLeftOut = blocks.map((file) => {
    if (!file || size + file.data.length > limit.fileCharacters) return file !== undefined;
    size += file.data.length;
    return false;
  });
  return { isLeftOut, textLimit: limit.without(size) };
}

/** Returns the sentences in place of a file. */
export function describeFile({ data, mimeType }: FileBlock): string {
  return `A file of type ${mimeType} with ${data.length} base64 characters was left out because the result is too long. ${advice}`;
}
