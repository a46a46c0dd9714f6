/** Key under which middleware puts the owner of a memory; a request must not be able to choose it. */
export const MASTRA_RESOURCE_ID_KEY = 'mastra__resourceId';

/** Key under which middleware puts the thread of a memory; a request must not be able to choose it. */
export const MASTRA_THREAD_ID_KEY = 'mastra__threadId';
