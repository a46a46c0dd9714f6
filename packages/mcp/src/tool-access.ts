/** Refusal of a tool call, as the HTTP response of the authorization middleware. */
export interface ToolAccessRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly error_description: string };
}

/** Returns the refusal when a caller may not call a tool. */
export type ToolAccessCheck = (toolName: string) => ToolAccessRefusal | undefined;

/** Key of the check on requests and identities. Shared by every copy of the package in a program. */
export const toolAccessKey: unique symbol = Symbol.for('quiver.toolAccessCheck');

/** A value that may carry a check. */
export interface ToolAccessCarrier {
  readonly [toolAccessKey]?: ToolAccessCheck;
}

/**
 * Attaches the check of the authorization middleware to a request, where the server finds it when it dispatches a tool call: an application
 * may replace the identity. The web platform may copy a request, so there it is attached to the identity too; it survives a spread.
 */
export function attachToolAccess(target: object, check: ToolAccessCheck): void {
  Object.defineProperty(target, toolAccessKey, { value: check, enumerable: true, configurable: true, writable: true });
}
