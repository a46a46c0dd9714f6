/**
 * What is taken from the SDK's server package at run time. Loading it costs about 125 ms, so only rare paths do, dynamically.
 *
 * @module
 */
export { classifyInboundRequest, UnsupportedProtocolVersionError } from '@modelcontextprotocol/server';
