import { Result } from '../../content.js';
import { MODERN_VERSION } from '../../protocol/constants.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { ServerRequest } from '../request.js';
import { variesByCaller } from '../tools/catalog.js';

/** Answers `server/discover`. */
export async function discover(request: ServerRequest): Promise<Result> {
  const { instructions } = request.server;
  const capabilities = capabilitiesOf(request);
  const members = { supportedVersions: [MODERN_VERSION], capabilities, instructions };
  return Result.of(members, { isPrivate: variesByCaller(request.server, 'tool') === true });
}

/** Returns the capabilities of a server, with the extensions of the protocol that its features declare to the caller. */
function capabilitiesOf(request: ServerRequest): ServerCapabilities {
  const { capabilities, features } = request.server;
  const extensions = features.flatMap((feature) => feature.extensionFor?.(request) ?? []);
  if (extensions.length === 0) return capabilities;
  return { ...capabilities, extensions: Object.fromEntries(extensions.map((name) => [name, {}])) };
}
