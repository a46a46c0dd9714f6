import { defined } from './defined.js';
import type { ContentBlock } from './protocol/types.js';
import type { Icon } from './resource.js';

/** Argument of a prompt. */
export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  /** Default `false`. */
  required?: boolean;
}

/** A template of messages that users choose, for example as a slash command. */
export interface Prompt {
  name: string;
  /** Distinguishes prompts with the same name. Travels in `_meta`, because the protocol does not define it. */
  version?: string;
  title?: string;
  description?: string;
  /** Media type of the prompt. Travels in `_meta`, like `version`. */
  mimeType?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

/** Message of a prompt. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  /** Text, image, audio, a link to a resource, or a resource itself. */
  content: ContentBlock;
}

/** Key of a prompt's version in `_meta`, in lists, requests and results. */
export const promptVersionKey = 'quiver/version';

/** Key of a prompt's media type in `_meta`, in lists and results. */
const promptMimeTypeKey = 'quiver/mimeType';

/** Returns `_meta` with the members of a prompt that the protocol does not define, or `undefined` when there are none. */
export function toPromptMeta({ version, mimeType, _meta }: Prompt): Record<string, unknown> | undefined {
  if (version === undefined && mimeType === undefined) return _meta;
  return { ..._meta, ...defined({ [promptVersionKey]: version, [promptMimeTypeKey]: mimeType }) };
}

/** Returns the members of a prompt that {@link toPromptMeta} put into `_meta`. */
export function fromPromptMeta(meta: Record<string, unknown> | undefined): Pick<Prompt, 'version' | 'mimeType'> {
  const { [promptVersionKey]: version, [promptMimeTypeKey]: mimeType } = meta ?? {};
  return {
    ...(typeof version === 'string' && { version }),
    ...(typeof mimeType === 'string' && { mimeType }),
  };
}
