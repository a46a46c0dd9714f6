/**
 * Keys that only the server may set, in middleware, after it knows who is calling. Code that fills a context from a request
 * must not copy them: whoever chooses them chooses whose memory is read.
 */

/** The owner of a memory. */
export const MASTRA_RESOURCE_ID_KEY = 'mastra__resourceId';

/** The thread of a memory. */
export const MASTRA_THREAD_ID_KEY = 'mastra__threadId';
