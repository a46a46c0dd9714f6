import { type OptionCheck, packageVersion, valueThat } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';

/** Description of the client that servers receive. */
export interface ClientInfo {
  name: string;
  version: string;
  /** Name to show to people. */
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: { src: string; mimeType?: string; sizes?: string[] }[];
}

/** Checks that a value names a client and its version, which servers require in the handshake. */
export const clientInfoCheck: OptionCheck = valueThat((value) => {
  const { name, version } = isObject(value) ? value : {};
  return typeof name === 'string' && name !== '' && typeof version === 'string' && version !== '';
}, "an object with a non-empty `name` and `version`, such as { name: 'acme', version: '1.0.0' }");

/** Client that servers see unless the application names another. */
export const defaultClientInfo: ClientInfo = { name: 'quiver', version: packageVersion };
