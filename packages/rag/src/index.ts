export const placeholder = 'rag';
