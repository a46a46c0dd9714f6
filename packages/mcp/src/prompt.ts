import type { ContentBlock } from './protocol/types.js';
import type { Icon } from './resource.js';

export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  /** Default `false`. */
  required?: boolean;
}

/** A template of messages that people choose, for example as a slash command. */
export interface Prompt {
  name: string;
  /** Tells prompts of one name apart. Travels in `_meta`, since the protocol has no place for it. */
  version?: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

export interface PromptMessage {
  role: 'user' | 'assistant';
  /** Text, image, audio, a link to a resource, or a resource itself. */
  content: ContentBlock;
}

/** Where the version of a prompt stands in `_meta`, in lists and in requests. */
export const promptVersionKey = 'quiver/version';
