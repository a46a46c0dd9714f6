import process from 'node:process';

/** What a suite tells its client, beside the URL. */
export interface Scenario {
  readonly name: string | undefined;
  /** The revision to speak. */
  readonly version: string | undefined;
  readonly context: ScenarioContext;
}

/** Calls to make as they are, and what the client is to sign in with. */
interface ScenarioContext {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly valid_jwt?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
}

export function readScenario(): Scenario {
  const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION, MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
  return {
    name: MCP_CONFORMANCE_SCENARIO,
    version: MCP_CONFORMANCE_PROTOCOL_VERSION,
    context: JSON.parse(MCP_CONFORMANCE_CONTEXT) as ScenarioContext,
  };
}
