import type { SourceDocument } from '@quiver/rag/document';
import { decodeText } from './decode-text.js';
import { unreadableDocument, type DocumentLoader } from './document-loader.js';

/** `00:01:02,500 --> 00:01:04,000`; hours are optional in WebVTT. */
const timing = /^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})/;

/**
 * Reads SubRip and WebVTT subtitles in groups, with the start and the end as `time` and `endTime` in seconds. Speakers are kept, other
 * markup is left out.
 *
 * @see [WebVTT, section 4 – Syntax](https://www.w3.org/TR/webvtt1/#syntax)
 */
export const loadSubtitles: DocumentLoader = async (bytes, { name, encoding, groupSize }) => {
  const { text, metadata } = await decodeText(bytes, name, encoding);
  const docs: SourceDocument[] = [];
  let group: { lines: string[]; length: number; time: number; endTime: number } | undefined;
  const flush = (): void => {
    if (!group) return;
    const { lines, time, endTime } = group;
    docs.push({ text: lines.join('\n'), metadata: { time, endTime, ...metadata } });
    group = undefined;
  };
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n(?:[ \t]*\n)+/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => line.includes('-->'));
    const match = at === -1 ? null : timing.exec(lines[at]!);
    if (!match) continue;
    const content = toPlainText(lines.slice(at + 1).join('\n'));
    if (content === '') continue;
    if (group && group.length + content.length > groupSize) flush();
    group ??= { lines: [], length: 0, time: toSeconds(match, 1), endTime: 0 };
    group.lines.push(content);
    group.length += content.length + 1;
    group.endTime = toSeconds(match, 5);
  }
  flush();
  if (docs.length === 0 && text.trim() !== '') throw unreadableDocument(name, 'it has no subtitles.');
  return [{ type: 'text', docs }];
};

function toSeconds(match: RegExpExecArray, group: number): number {
  const [hours, minutes, seconds] = [0, 1, 2].map((offset) => Number(match[group + offset] ?? 0));
  return hours! * 3600 + minutes! * 60 + seconds! + Number(match[group + 3]!.padEnd(3, '0')) / 1000;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', nbsp: ' ', lrm: '', rlm: '' };

function toPlainText(text: string): string {
  return text
    .replace(/<v(?:\.[^\s<>]*)?\s([^<>]*)>/g, '$1: ')
    .replace(/<[^<>]*>|\{\\[^{}]*\}/g, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => entities[name]!)
    .trim();
}
