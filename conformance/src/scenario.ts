import process from 'node:process';

/** Input that a suite passes to its client in addition to the URL. */
export interface Scenario {
  readonly name: string | undefined;
  /** Protocol version to use. */
  readonly version: string | undefined;
  readonly context: ScenarioContext;
}

/** Tool calls with their arguments, and the credentials of the client. */
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
