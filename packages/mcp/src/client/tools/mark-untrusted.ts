import type { ToolModelOutput } from '@quiver/core/tools';

/** Origin of an output. */
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
  const text = typeof output.value === 'string' ? output.value : (JSON.stringify(output.value) ?? '');
  return { type: output.type.startsWith('error') ? 'error-text' : 'text', value: markUntrustedText(text, origin) };
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
