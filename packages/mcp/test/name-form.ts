/** A form that asks for a name. */
export const nameForm = {
  type: 'object' as const,
  properties: { name: { type: 'string' } },
  required: ['name'],
};
