import type { Resource, ResourceTemplate } from '../resource.js';
import type { CallbackContext, MaybePromise } from './callback-context.js';
import type { CompletionRequest } from './completion-request.js';
import type { UriVariables } from './uri-template.js';

/** Text, or bytes: as they are or in Base64. `uri` and `mimeType` are those of the resource unless given. */
export type MCPServerResourceContent = ({ text?: string } | { blob?: string | Uint8Array }) & {
  uri?: string;
  mimeType?: string;
  _meta?: Record<string, unknown>;
};

/** What a server's resources are made of. All callbacks are called per request: what one caller sees is never shown to another. */
export interface MCPServerResources {
  /** The resources that clients can list. */
  listResources: (context: CallbackContext) => MaybePromise<Resource[]>;
  /**
   * The content of one resource that `listResources` names or a template matches. Nothing, `undefined`, means that there is no
   * such resource.
   */
  getResourceContent: (
    request: {
      uri: string;
      /** The values in the URI, where a template matched. */
      variables: UriVariables;
    } & CallbackContext,
  ) => MaybePromise<MCPServerResourceContent | MCPServerResourceContent[] | undefined>;
  /** Families of resources; every URI that follows one of the templates can be read. */
  resourceTemplates?: (context: CallbackContext) => MaybePromise<ResourceTemplate[]>;
  /** Suggests values for a variable of a template; at most 100 are sent. */
  completeVariable?: (request: CompletionRequest & { uriTemplate: string; variable: string }) => MaybePromise<string[]>;
}
