export const placeholder = 'mcp';
