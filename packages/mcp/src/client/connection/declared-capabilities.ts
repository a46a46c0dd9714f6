import type { ClientCapabilities } from '../../protocol/client-types.js';
import type { ServerHandlers } from './server-handlers.js';

/** What is declared to a server: what there are handlers for, and what the definition says. */
export function capabilitiesOf(
  { elicitation, sampling, roots }: ServerHandlers,
  declared: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...(elicitation && { elicitation: { form: {} } }),
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: { listChanged: true } }),
    ...declared,
  };
}
