/** The part of a document of `unpdf` that is read. */
export interface OutlinedDocument {
  getOutline(): Promise<readonly OutlineItem[] | null | undefined>;
  getDestination(name: string): Promise<readonly unknown[] | null>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a reference of the library
  getPageIndex(reference: any): Promise<number>;
}

interface OutlineItem {
  readonly title: string;
  readonly dest: unknown;
  readonly items: readonly OutlineItem[];
}

/** Levels of headings, by the index of their page and their title as `titleKey` returns it. */
export type PdfOutline = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Bookmarks that are read. */
const maxItems = 5000;
const maxLevel = 6;

/** Reads the bookmarks of a document: its headings as its author wrote them. Empty where there are none, or they are damaged. */
export async function readOutline(document: OutlinedDocument): Promise<PdfOutline> {
  const outline = new Map<number, Map<string, number>>();
  const open = ((await document.getOutline().catch(() => null)) ?? []).map((item) => ({ item, level: 1 })).toReversed();
  for (let count = 0; count < maxItems; count += 1) {
    const next = open.pop();
    if (!next) break;
    const { item, level } = next;
    for (const child of (item.items ?? []).toReversed())
      open.push({ item: child, level: Math.min(level + 1, maxLevel) });
    const page = await pageOf(document, item.dest).catch(() => undefined);
    const key = titleKey(String(item.title));
    if (page === undefined || key === '') continue;
    const titles = outline.get(page) ?? new Map<string, number>();
    if (!titles.has(key)) titles.set(key, level);
    outline.set(page, titles);
  }
  return outline;
}

async function pageOf(document: OutlinedDocument, dest: unknown): Promise<number | undefined> {
  const target: unknown = typeof dest === 'string' ? await document.getDestination(dest) : dest;
  const page: unknown = Array.isArray(target) ? target[0] : undefined;
  if (typeof page === 'number') return page;
  return typeof page === 'object' && page !== null ? document.getPageIndex(page) : undefined;
}

/** Returns what is equal in a bookmark and in the heading on the page: no numbers in front, no spaces and marks. */
export function titleKey(title: string): string {
  return title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(?:chapter|appendix|part|section|kapitel|anhang)\s+/, '')
    .replace(/^(?:\d+(?:\.\d+)*[.:]?|[a-z](?:\.\d+)+|[ivxlc]{1,6}[.:])\s+(?=\S)/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
