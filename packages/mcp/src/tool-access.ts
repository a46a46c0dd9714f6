/** Refusal of a tool call, as the HTTP response of the authorization middleware. */
export interface ToolAccessRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly error_description: string };
}

/** Returns the refusal when a caller may not call a tool. */
export type ToolAccessCheck = (toolName: string) => ToolAccessRefusal | undefined;

/** Shared by every copy of the package in a program. */
const key: unique symbol = Symbol.for('quiver.toolAccessCheck');

/**
 * Attaches the check of the authorization middleware to a request, where the server finds it when it dispatches a tool call. The
 * web platform may copy a request, so there it is attached to the identity too; it survives a spread.
 */
export function attachToolAccess(target: object, check: ToolAccessCheck): void {
  Object.defineProperty(target, key, { value: check, enumerable: true, configurable: true, writable: true });
}

/** Returns the check that is attached to one of the values. */
export function toolAccessOf(...targets: readonly unknown[]): ToolAccessCheck | undefined {
  for (const target of targets) {
    const check = typeof target === 'object' && target !== null ? (target as { [key]?: unknown })[key] : undefined;
    // Set by `attachToolAccess` only, possibly of another copy of the package.
    if (typeof check === 'function') return check as ToolAccessCheck;
  }
  return undefined;
}
