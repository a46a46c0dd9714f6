import { Result } from '../../content.js';
import { MODERN_VERSION, TASKS_EXTENSION } from '../../protocol/constants.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { ServerRequest } from '../request.js';
import { variesByCaller } from '../tools/catalog.js';

/** Answers `server/discover`. */
export function discover(request: ServerRequest): Result {
  const { instructions } = request.server;
  const capabilities = capabilitiesOf(request);
  const members = JSON.stringify({ supportedVersions: [MODERN_VERSION], capabilities, instructions });
  return new Result(members.slice(1, -1), { isPrivate: variesByCaller(request.server, 'tool') === true });
}

/** Returns the capabilities of a server, with the tasks extension when the caller sees a tool whose calls become tasks. */
function capabilitiesOf(request: ServerRequest): ServerCapabilities {
  const { capabilities, tools } = request.server;
  if (!tools.all(request).some(({ name, task }) => task && tools.find(request, name))) return capabilities;
  return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
}
