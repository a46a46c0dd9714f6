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

export const defaultClientInfo: ClientInfo = { name: 'quiver', version: '1.0.0' };
