import { QuiverError } from '@quiver/core';
import type { CallToolResult } from '../../protocol/client-types.js';

/** Error result of a remote tool. The message is the server's text. */
export class RemoteToolError extends QuiverError {
  override readonly name: string = 'RemoteToolError';
  readonly serverName: string;
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly result: CallToolResult;

  constructor(serverName: string, toolName: string, result: CallToolResult) {
    const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    super('MCP_TOOL_ERROR', texts.join('\n') || 'The tool failed and gave no reason.', {
      details: { server: serverName, tool: toolName, content: result.content },
    });
    this.serverName = serverName;
    this.toolName = toolName;
    this.result = result;
  }
}
