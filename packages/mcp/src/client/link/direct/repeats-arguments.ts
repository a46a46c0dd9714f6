const known = new WeakMap<object, boolean>();

/** Tells whether arguments of this schema have to be repeated in headers, as the stateless revision lets servers ask for. */
export function repeatsArguments(inputSchema: object): boolean {
  const repeats = known.get(inputSchema) ?? JSON.stringify(inputSchema).includes('x-mcp-header');
  known.set(inputSchema, repeats);
  return repeats;
}
