import { lastAtOrBefore } from './chunking/text-boundary.js';

/** A rectangle on a page, in points from its upper left corner: `[left, top, right, bottom]`. */
export type PageBox = readonly [left: number, top: number, right: number, bottom: number];

/** Place of a part of a text on a page. */
export interface TextPlace {
  /** Position in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Number of the page, from 1. */
  readonly page: number;
  readonly box?: PageBox;
}

/** Where a span is: the page on which it begins, the rectangle around its parts there, and the page on which it ends, if that is another one. */
export interface PageSpan {
  page?: number;
  endPage?: number;
  box?: PageBox;
}

/** Whether a value is a list of places inside the text, in order and apart from each other. */
export function arePlaces(places: unknown, { length }: string): places is readonly TextPlace[] {
  if (!Array.isArray(places)) return false;
  let last = 0;
  return places.every((place: Partial<TextPlace> | null) => {
    const { start, end, page, box } = place ?? {};
    if (![start, end, page].every(Number.isInteger) || page! < 1) return false;
    if (box !== undefined && !(Array.isArray(box) && box.length === 4 && box.every(Number.isFinite))) return false;
    if (start! < last || end! < start! || end! > length) return false;
    last = end!;
    return true;
  });
}

/** Returns the function that finds where a span is; empty where no part of it has a place. */
export function createPageFinder(places: readonly TextPlace[]): (start: number, end: number) => PageSpan {
  const starts = places.map(({ start }) => start);
  return (start, end) => {
    const boxes: PageBox[] = [];
    let page: number | undefined;
    let endPage: number | undefined;
    for (let index = Math.max(0, lastAtOrBefore(starts, start)); index < places.length; index++) {
      const place = places[index]!;
      if (place.start >= end) break;
      if (place.end <= start) continue;
      page ??= place.page;
      if (place.page !== page) endPage = place.page;
      else if (place.box) boxes.push(place.box);
    }
    return toPageSpan(page, endPage, boxes);
  };
}

/** Returns where several spans are together. The first of them is the first in the text. */
export function unitePages(spans: readonly PageSpan[]): PageSpan {
  const [first, last] = [spans[0], spans.at(-1)];
  const endPage = last?.endPage ?? last?.page;
  const boxes = spans.flatMap(({ page, box }) => (Array.isArray(box) && page === first?.page ? [box] : []));
  return toPageSpan(first?.page, endPage === first?.page ? undefined : endPage, boxes);
}

function toPageSpan(page: number | undefined, endPage: number | undefined, boxes: readonly PageBox[]): PageSpan {
  return {
    ...(page !== undefined && { page }),
    ...(endPage !== undefined && { endPage }),
    ...(boxes.length > 0 && { box: uniteBoxes(boxes) }),
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
