import { canonicalJson } from '../document/content-hash.js';
import { alsoInKey, copyKeys, partKeys, placeKeys, vectorOfKey, type PlaceKey } from '../document/metadata-keys.js';
import { recordText } from '../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../store/vector-store.js';

/** Another place of the text of a result, in its `metadata.alsoIn`: with the part of the file, such as `page` or `attachment`. */
export interface OtherPlace extends Partial<Record<PlaceKey, unknown>> {
  /** Id of the record. */
  id: string;
}

interface CopyGroup<Match> {
  readonly best: Match;
  readonly copies: Match[];
}

/**
 * Returns results without those that repeat the text of an earlier one. The earlier one lists their places in `metadata.alsoIn`. Texts
 * whose other metadata differ, such as a tenant or a team, are not copies, and neither are results without text.
 *
 * @param matches - best first
 */
export function mergeCopies<Match extends VectorRecord>(matches: readonly Match[]): Match[] {
  const groups: CopyGroup<Match>[] = [];
  const byText = new Map<string, CopyGroup<Match>[]>();
  for (const match of matches) {
    const text = match.metadata[vectorOfKey] === undefined ? recordText(match) : '';
    const sameText = text === '' ? [] : (byText.get(text) ?? []);
    const group = sameText.find(({ best }) => ownMetadata(best) === ownMetadata(match));
    if (group) {
      group.copies.push(match);
      continue;
    }
    const alone = { best: match, copies: [] };
    groups.push(alone);
    byText.set(text, [...sameText, alone]);
  }
  return groups.map(({ best, copies }) => (copies.length === 0 ? best : withPlaces(best, copies)));
}

function ownMetadata({ metadata }: VectorRecord): string {
  return canonicalJson(Object.fromEntries(Object.entries(metadata).filter(([key]) => !copyKeys.has(key))));
}

function withPlaces<Match extends VectorRecord>(best: Match, copies: readonly Match[]): Match {
  const places = new Map<string, OtherPlace>();
  for (const match of [best, ...copies]) {
    places.set(match.id, toPlace(match));
    for (const place of otherPlaces(match.metadata)) places.set(place.id, place);
  }
  places.delete(best.id);
  if (places.size === 0) return best;
  return { ...best, metadata: { ...best.metadata, [alsoInKey]: [...places.values()] } };
}

function toPlace({ id, metadata }: VectorRecord): OtherPlace {
  const known = placeKeys.filter((key) => metadata[key] !== undefined);
  return { id, ...Object.fromEntries(known.map((key) => [key, metadata[key] as unknown])) };
}

/** Returns the places that earlier calls of {@link mergeCopies} have listed. */
export function otherPlaces(metadata: VectorMetadata): readonly OtherPlace[] {
  const places: unknown = metadata[alsoInKey];
  return Array.isArray(places) ? places.filter((place): place is OtherPlace => typeof place?.id === 'string') : [];
}

/** Returns a place in words, such as `mail.eml, attachment deck.pptx, slide 3`. */
export function describePlace(place: OtherPlace): string {
  const parts = partKeys.flatMap((key) => (place[key] === undefined ? [] : [`${key} ${String(place[key])}`]));
  return [...(place.source === undefined ? [] : [String(place.source)]), ...parts].join(', ');
}
