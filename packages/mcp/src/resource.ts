/** Icon of a server, tool, prompt or resource. */
export interface Icon {
  /** An `https` or `data` URL. */
  src: string;
  mimeType?: string;
  /** For example `48x48`, or `any` for vector graphics. */
  sizes?: string[];
  theme?: 'light' | 'dark';
}

/** Audience and priority of content. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[];
  /** From 0, optional, to 1, required. */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Data with a URI that clients can read. */
export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes, before any encoding. */
  size?: number;
  annotations?: ContentAnnotations;
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

/** Resources whose URIs match an RFC 6570 template, such as `db://orders/{id}`. */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  /** Media type of all matching resources, if they share one. */
  mimeType?: string;
  annotations?: ContentAnnotations;
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

/** Result of `resources/list`. */
export interface ListResourcesResult {
  resources: Resource[];
  /** Start of the next page; absent on the last one. */
  nextCursor?: string;
  _meta?: Record<string, unknown>;
}
