/** An image of a page as it is stored, without compression. */
export interface PageImage {
  /** Rows of pixels from top to bottom, one byte for each channel. */
  data: Uint8ClampedArray;
  width: number;
  height: number;
  /** Gray, RGB or RGBA. */
  channels: 1 | 3 | 4;
}

/** A page of a PDF document with images and without text. */
export interface ScannedPage {
  /** Path, file name or URL of the document. */
  name: string;
  /** Number of the page, from 1. */
  page: number;
  /** Reads the images of the page. Black and white masks, which some scanners write, are not included. */
  images: () => Promise<PageImage[]>;
  signal: AbortSignal | undefined;
}

/** Recognizes the text of a scanned page: by its images, or by its number in a file that is read in another way. */
export type RecognizeText = (page: ScannedPage) => string | Promise<string>;
