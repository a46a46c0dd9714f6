import type { ToolModelOutput, ToolModelOutputPart } from '@quiver/core/tools';
import { cutTexts, describeCut } from '../../result-limit/cut-texts.js';
import { describeFile, fitFiles, type FileBlock } from '../../result-limit/fit-files.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';

/** Cuts what a model receives of a tool's result, and adds what is missing. Images, audio and files over the limit are left out. */
export function limitModelOutput(output: ToolModelOutput, limit: SizeLimit): ToolModelOutput {
  if (output.type === 'content') return limitParts(output.value, limit);
  const text = typeof output.value === 'string' ? output.value : (JSON.stringify(output.value) ?? '');
  const limited = limitText(text, limit);
  if (limited === text) return output;
  return { type: output.type.startsWith('error') ? 'error-text' : 'text', value: limited };
}

/** Returns a text within a limit, with a sentence behind it that says what is missing. */
export function limitText(text: string, limit: SizeLimit): string {
  const cut = cutTexts([text], limit);
  return cut ? `${cut.texts[0] ?? ''}\n\n${describeCut(cut)}` : text;
}

function limitParts(parts: readonly ToolModelOutputPart[], limit: SizeLimit): ToolModelOutput {
  const files = parts.map(toFile);
  const { isLeftOut, textLimit } = fitFiles(files, limit);
  const cut = cutTexts(
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    textLimit,
  );
  let place = 0;
  const shown = parts.flatMap((part, index): ToolModelOutputPart[] => {
    const file = files[index];
    if (file && isLeftOut[index]) return [{ type: 'text', text: describeFile(file) }];
    if (part.type !== 'text' || !cut) return [part];
    const text = cut.texts[place];
    place += 1;
    return text === undefined ? [] : [{ type: 'text', text }];
  });
  return { type: 'content', value: [...shown, ...(cut ? [{ type: 'text' as const, text: describeCut(cut) }] : [])] };
}

function toFile(part: ToolModelOutputPart): FileBlock | undefined {
  return 'data' in part ? { data: part.data, mimeType: part.mediaType } : undefined;
}
