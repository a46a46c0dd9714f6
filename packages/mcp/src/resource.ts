/** Where an icon is, and for what it is made. */
export interface Icon {
  /** An `https` or `data` URL. */
  src: string;
  mimeType?: string;
  /** For example `48x48`, or `any` for vector graphics. */
  sizes?: string[];
  theme?: 'light' | 'dark';
}

/** For whom content is meant, and how much it matters. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[];
  /** From 0, optional, to 1, required. */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Something with a URI that clients can read. */
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

/** A family of resources: their URIs follow a template of RFC 6570, such as `db://orders/{id}`. */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  /** The type of all resources of the family, where they share one. */
  mimeType?: string;
  annotations?: ContentAnnotations;
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

/** One page of `resources/list`, as it travels. */
export interface ListResourcesResult {
  resources: Resource[];
  /** Where the next page begins; absent on the last one. */
  nextCursor?: string;
  _meta?: Record<string, unknown>;
}
