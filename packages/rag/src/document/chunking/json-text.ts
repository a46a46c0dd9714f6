import { SourceMap } from './source-map.js';

/** A JSON text without its white space and with as few escapes as possible, and where it came from. */
export interface CompactJson {
  readonly text: string;
  readonly map: SourceMap;
}

/** @param source - valid JSON */
export function compactJson(source: string, ensureAscii: boolean): CompactJson {
  const parts: string[] = [];
  const map = new SourceMap();
  let length = 0;
  const start = source.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let at = start; at < source.length;) {
    const end = tokenEnd(source, at);
    const raw = source.slice(at, end);
    const part = raw.charCodeAt(0) === 0x22 ? normalString(raw, ensureAscii) : raw.trim();
    if (part !== '') {
      map.add(length, part.length, at, end);
      parts.push(part);
      length += part.length;
    }
    at = end;
  }
  return { text: parts.join(''), map };
}

/** After the string, the white space, or the run of anything else that starts at `start`. */
function tokenEnd(source: string, start: number): number {
  if (source.charCodeAt(start) === 0x22) {
    let at = start + 1;
    while (source.charCodeAt(at) !== 0x22) at += source.charCodeAt(at) === 0x5c ? 2 : 1;
    return at + 1;
  }
  const isSpace = isJsonSpace(source.charCodeAt(start));
  let at = start + 1;
  while (at < source.length && source.charCodeAt(at) !== 0x22 && isJsonSpace(source.charCodeAt(at)) === isSpace) at++;
  return at;
}

function isJsonSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function normalString(raw: string, ensureAscii: boolean): string {
  const text = raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw;
  if (!ensureAscii) return text;
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The content of a JSON string, character by character. */
export function decodeString(source: string, start: number, end: number): { text: string; map: SourceMap } {
  const parts: string[] = [];
  const map = new SourceMap();
  let length = 0;
  const add = (part: string, from: number, to: number): void => {
    map.add(length, part.length, from, to);
    parts.push(part);
    length += part.length;
  };
  for (let at = start + 1; at < end - 1;) {
    if (source[at] === '\\') {
      const to = at + (source[at + 1] === 'u' ? 6 : 2);
      add(JSON.parse(`"${source.slice(at, to)}"`) as string, at, to);
      at = to;
    } else {
      let to = at + 1;
      while (to < end - 1 && source.charCodeAt(to) !== 0x5c) to++;
      add(source.slice(at, to), at, to);
      at = to;
    }
  }
  return { text: parts.join(''), map };
}
