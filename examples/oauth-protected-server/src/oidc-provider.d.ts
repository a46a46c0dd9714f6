/** The part of `oidc-provider` that the example uses. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>;
    interactionDetails(
      req: IncomingMessage,
      res: ServerResponse,
    ): Promise<{
      prompt: {
        name: string;
        details: { missingOIDCScope?: string[]; missingResourceScopes?: Record<string, string[]> };
      };
      params: { client_id: string };
      session?: { accountId: string };
      grantId?: string;
    }>;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object, options?: object): Promise<void>;
    Grant: {
      new (options: { accountId: string; clientId: string }): {
        addOIDCScope(scope: string): void;
        addResourceScope(resource: string, scope: string): void;
        save(): Promise<string>;
      };
      find(id: string): Promise<{
        addOIDCScope(scope: string): void;
        addResourceScope(resource: string, scope: string): void;
        save(): Promise<string>;
      }>;
    };
  }
}
