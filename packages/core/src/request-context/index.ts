export { RequestContext } from './request-context.js';
export { MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY } from './reserved-keys.js';
