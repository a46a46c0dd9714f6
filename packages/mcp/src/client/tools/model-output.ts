import type { ToolModelOutput, ToolModelOutputPart } from '@quiver/core/tools';
import { cutTexts, describeCut, describeFile, fitFiles, type FileBlock } from '../../result-limit/cut-texts.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';

/** Cuts what a model receives of a tool's result, and adds what is missing. Images, audio and files over the limit are left out. */
export function limitModelOutput(output: ToolModelOutput, limit: SizeLimit): ToolModelOutput {
  if (output.type === 'content') return limitParts(output.value, limit);
  return withText(output, (text) => limitText(text, limit));
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

interface Origin {
  readonly serverName: string;
  readonly toolName: string;
}

/**
 * Marks what a model receives of a tool's result as data: between tags that name server and tool, and that the output cannot close.
 *
 * @see [Defending Against Indirect Prompt Injection Attacks With Spotlighting](https://arxiv.org/abs/2403.14720), delimiting
 */
export function markUntrusted(output: ToolModelOutput, origin: Origin): ToolModelOutput {
  if (output.type === 'content') {
    const parts = output.value.map((part) => (part.type === 'text' ? { ...part, text: withoutMark(part.text) } : part));
    return { type: 'content', value: [{ type: 'text', text: open(origin) }, ...parts, { type: 'text', text: close }] };
  }
  return withText(output, (text) => markUntrustedText(text, origin));
}

export function markUntrustedText(text: string, origin: Origin): string {
  return `${open(origin)}\n${withoutMark(text)}\n${close}`;
}

const close = '</untrusted>';

function open({ serverName, toolName }: Origin): string {
  const plain = (name: string): string => name.replaceAll(/[^\w.-]+/g, '_');
  return `<untrusted server="${plain(serverName)}" tool="${plain(toolName)}">`;
}

/** Escapes tags of the mark, which end it or begin another. */
function withoutMark(text: string): string {
  return text.replaceAll(/<(?=[\s/]*untrusted\b)/gi, '&lt;');
}

/** Returns an output without parts with another text. */
function withText(
  output: Exclude<ToolModelOutput, { type: 'content' }>,
  change: (text: string) => string,
): ToolModelOutput {
  const text = typeof output.value === 'string' ? output.value : (JSON.stringify(output.value) ?? '');
  const changed = change(text);
  if (changed === text) return output;
  return { type: output.type.startsWith('error') ? 'error-text' : 'text', value: changed };
}
