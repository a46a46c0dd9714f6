import { lastAtOrBefore } from './chunking/text-boundary.js';

/** A rectangle on a page, in points from its upper left corner: `[left, top, right, bottom]`. */
export type PageBox = readonly [left: number, top: number, right: number, bottom: number];

/** Place of a part of a text on its page. */
export interface TextBox {
  /** Position in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly box: PageBox;
}

/** Returns the function that finds the rectangle around the parts of a span; `undefined` where no part has a place. */
export function createBoxFinder(boxes: readonly TextBox[]): (start: number, end: number) => PageBox | undefined {
  const starts = boxes.map(({ start }) => start);
  return (start, end) => {
    const found: PageBox[] = [];
    for (let index = Math.max(0, lastAtOrBefore(starts, start)); index < boxes.length; index++) {
      const part = boxes[index]!;
      if (part.start >= end) break;
      if (part.end > start) found.push(part.box);
    }
    return found.length === 0 ? undefined : uniteBoxes(found);
  };
}

/** Returns the rectangle around several. */
export function uniteBoxes(boxes: readonly PageBox[]): PageBox {
  return boxes.reduce((all, box) => [
    Math.min(all[0], box[0]),
    Math.min(all[1], box[1]),
    Math.max(all[2], box[2]),
    Math.max(all[3], box[3]),
  ]);
}
