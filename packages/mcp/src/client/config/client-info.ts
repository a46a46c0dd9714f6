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

/** `pnpm run version` writes the package's version here. */
export const defaultClientInfo: ClientInfo = { name: 'quiver', version: '0.0.0' };
