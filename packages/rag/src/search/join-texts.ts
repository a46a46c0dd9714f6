import type { PlacedChunk } from './chunk-chains.js';

/** Returns the text of neighbors. It is verbatim if their texts are, and if the text between them is known. */
export function joinTexts(chunks: readonly PlacedChunk[]): string {
  const parts: string[] = [];
  let last: PlacedChunk | undefined;
  for (const chunk of chunks) {
    if (last && chunk.isVerbatim && last.isVerbatim) {
      // A chunk inside the one before it adds nothing.
      if (chunk.end <= last.end) continue;
      const gap = chunk.start - last.end;
      parts.push(gap > 0 ? between(chunk, gap) + chunk.text : chunk.text.slice(-gap));
    } else if (last) {
      const repeated = overlapOf(last.text, chunk.text);
      parts.push(repeated > 0 ? chunk.text.slice(repeated) : `\n\n${chunk.text}`);
    } else parts.push(chunk.text);
    last = chunk;
  }
  return parts.join('');
}

function between({ textBefore }: PlacedChunk, gap: number): string {
  if (textBefore?.length === gap) return textBefore;
  return gap === 1 ? ' ' : '\n\n';
}

/** Chunks of decoded texts repeat at most so many characters. */
const longestOverlap = 1000;
const shortestOverlap = 10;

/** Length of the end of a text that is the beginning of another. A few equal characters prove nothing. */
function overlapOf(text: string, next: string): number {
  for (let length = Math.min(longestOverlap, text.length, next.length); length >= shortestOverlap; length -= 1) {
    if (text.endsWith(next.slice(0, length))) return length;
  }
  return 0;
}
