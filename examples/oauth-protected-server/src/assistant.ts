import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent } from '@quiver/core/agent';
import type { LanguageModel } from '@quiver/core/llm';
import { RequestContext } from '@quiver/core/request-context';
import {
  createClientCredentialsProvider,
  createOAuthFetch,
  finishAuthorization,
  MCPOAuthClientProvider,
  SharedOAuthStorage,
} from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import type { SharedStore } from '@quiver/mcp/server';

interface AssistantOptions {
  /** Address of this application. */
  readonly url: URL;
  readonly notesUrl: URL;
  readonly model: LanguageModel;
  /** Tokens of all users. Processes with the same store share them. */
  readonly store: SharedStore;
  readonly encryptionKey: string;
  /** Authorization server of the notes, and the registration of this application there. */
  readonly issuer: string;
  readonly client: { readonly client_id: string; readonly client_secret: string };
}

/** `signIn` is the page where the user has to sign in, or to allow more. */
type UserContext = RequestContext<{ user: string; signIn?: URL }>;

/** Starts a web application whose agent uses the notes of each user. One client serves all users. */
export async function startAssistant(options: AssistantOptions): Promise<{ close(): Promise<void> }> {
  const { url, notesUrl, store, encryptionKey, issuer, client, model } = options;
  const redirectUrl = new URL('/callback', url).href;
  const providerOf = (context: UserContext): MCPOAuthClientProvider =>
    new MCPOAuthClientProvider({
      redirectUrl,
      clientMetadata: { redirect_uris: [redirectUrl] },
      clientInformation: client,
      storage: new SharedOAuthStorage({ store, owner: context.get('user'), encryptionKey }),
      onRedirectToAuthorization: (page) => {
        page.searchParams.set('login_hint', context.get('user'));
        context.set('signIn', page);
      },
    });
  // The connection belongs to no user, so the application signs in itself.
  const ownProvider = createClientCredentialsProvider({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    issuer,
  });
  const mcp = new MCPClient({
    servers: {
      notes: {
        url: notesUrl,
        protocol: 'modern',
        fetch: (to, init, context) => {
          const provider = context ? providerOf(context) : ownProvider;
          return createOAuthFetch({ provider, serverUrl: notesUrl })(to, init);
        },
      },
    },
    identity: (context) => context.get('user'),
  });
  const agent = new Agent({ name: 'assistant', instructions: 'You keep the notes of the user.', model });

  const sessions = new Map<string, { user: string; page: string }>();
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { pathname, searchParams, search } = new URL(req.url ?? '', url);
    const redirect = (to: string): void => void res.writeHead(302, { location: to }).end();
    if (pathname === '/login') {
      // Your own login.
      const id = crypto.randomUUID();
      sessions.set(id, { user: searchParams.get('user') ?? '', page: '/' });
      res.setHeader('set-cookie', `session=${id}; HttpOnly; SameSite=Lax; Path=/`);
      return void res.end('Welcome.');
    }
    const session = sessions.get(/session=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1] ?? '');
    if (!session) return void res.writeHead(401).end('Log in first.');
    const context: UserContext = new RequestContext({ user: session.user });
    if (pathname === '/callback') {
      // The session names the user: a code that was issued to somebody else does not fit the state of this user.
      const { code = '', state = '', iss } = Object.fromEntries(searchParams);
      const callback = { code, state, ...(iss && { iss }) };
      await finishAuthorization({ provider: providerOf(context), serverUrl: notesUrl, callback });
      return redirect(session.page);
    }
    const { tools, errors } = await mcp.forRequest(context).listToolsWithErrors();
    const message = searchParams.get('message') ?? '';
    const isReady = errors['notes'] === undefined;
    const run = isReady && (await agent.generate(message, { toolsets: { notes: tools }, requestContext: context }));
    // The list needs the user to sign in, or a call needs more scopes.
    const signIn = context.get('signIn');
    if (!signIn) return void (run ? res.end(run.text) : res.writeHead(503).end(errors['notes']));
    // The message is sent again after the sign-in. In production, keep it in the session, and accept it by POST only.
    session.page = `/${search}`;
    return redirect(signIn.href);
  };
  const http = createServer((req, res) => {
    handle(req, res).catch((error: Error) => res.writeHead(400).end(error.message));
  });
  await new Promise<void>((resolve) => http.listen(Number(url.port), '127.0.0.1', resolve));
  return {
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await mcp.disconnect();
    },
  };
}
