/**
 * Keys that only server middleware may set, after authentication. Code that fills a context from a request must not copy them: they
 * select the memory that is read.
 */

/** The owner of a memory. */
export const MASTRA_RESOURCE_ID_KEY = 'mastra__resourceId';

/** The thread of a memory. */
export const MASTRA_THREAD_ID_KEY = 'mastra__threadId';
