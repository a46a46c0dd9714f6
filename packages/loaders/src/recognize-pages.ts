import { untilAborted } from '@quiver/core';
import type { DrawRequest, SkippedFile } from './formats/document-loader.js';

/** A page of a PDF document without text that can be read. */
export interface ScannedPage {
  /** Path, file name or URL of the document. */
  name: string;
  /** Number of the page, from 1. */
  page: number;
  /** Draws the page as PNG. `resolution` is in dots per inch. Default 300. */
  image: (options?: { resolution?: number }) => Promise<Uint8Array>;
  signal: AbortSignal | undefined;
}

/** Recognizes the text of a scanned page: by its image, or by its number in a file that is read in another way. */
export type RecognizeText = (page: ScannedPage) => string | Promise<string>;

const defaultResolution = 300;

/**
 * Calls `ocr` with one page after another, and reports those without a text.
 *
 * @returns the texts by the paths of the pages
 */
export async function recognizePages(
  pages: readonly SkippedFile[],
  ocr: RecognizeText,
  draw: (request: DrawRequest) => Promise<Uint8Array>,
  { onSkip, signal }: { onSkip: (file: SkippedFile) => void; signal: AbortSignal | undefined },
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const file of pages) {
    const { path, page = 1 } = file;
    const image: ScannedPage['image'] = ({ resolution = defaultResolution } = {}) => draw({ path, resolution });
    try {
      const name = path.replace(/#page=\d+$/, '');
      const text = await untilAborted(async () => ocr({ name, page, image, signal }), signal);
      if (text.trim() === '') onSkip(file);
      else texts.set(path, text);
    } catch (error) {
      signal?.throwIfAborted();
      onSkip({ ...file, error });
    }
  }
  return texts;
}
