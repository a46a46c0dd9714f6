import type { ToolModelOutput, ToolModelOutputPart } from '@quiver/core/tools';
import { cutTexts, describeCut, type Extent } from '../../result-limit/cut-texts.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';

/**
 * Cuts the texts that a model receives of a tool's result, and adds what is missing. The output of the tool stays complete. Images, audio
 * and files stay, and do not count.
 */
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
  return cut ? `${cut.texts[0] ?? ''}\n\n${describe(cut)}` : text;
}

function limitParts(parts: readonly ToolModelOutputPart[], limit: SizeLimit): ToolModelOutput {
  const cut = cutTexts(
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    limit,
  );
  if (!cut) return { type: 'content', value: [...parts] };
  let place = 0;
  const shown = parts.flatMap((part): ToolModelOutputPart[] => {
    if (part.type !== 'text') return [part];
    const text = cut.texts[place];
    place += 1;
    return text === undefined ? [] : [{ type: 'text', text }];
  });
  return { type: 'content', value: [...shown, { type: 'text', text: describe(cut) }] };
}

function describe(extent: Extent): string {
  return `${describeCut(extent)} Call the tool with arguments that return less.`;
}
