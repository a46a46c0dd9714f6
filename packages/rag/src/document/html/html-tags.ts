/** Effect of elements on their text. Elements that are not listed are inline. */
export type TagKind = 'block' | 'hidden' | 'cell' | 'break';

const tags: Readonly<Record<TagKind, string>> = {
  block:
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody tfoot thead tr ul',
  hidden:
    'applet audio canvas embed frame frameset head iframe link math meta noembed noframes noscript object script style svg template title video',
  cell: 'td th',
  break: 'br',
};

const kinds: ReadonlyMap<string, TagKind> = new Map(
  Object.entries(tags).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind as TagKind])),
);

/** Returns the effect of an element on its text, by its name in lower case; `undefined` for an inline element. */
export function tagKind(name: string): TagKind | undefined {
  return kinds.get(name);
}

/** Returns 1 to 6 for `h1` to `h6`. */
export function headingLevel(name: string): number | undefined {
  const level = name.length === 2 && name.charCodeAt(0) === 0x68 ? name.charCodeAt(1) - 0x30 : 0;
  return level >= 1 && level <= 6 ? level : undefined;
}

/** A requested element, as a part of the text. */
export interface ElementPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** `aria-label` of the element, otherwise its `id`. */
  readonly label: string | undefined;
}
