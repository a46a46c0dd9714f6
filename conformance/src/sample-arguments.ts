import type { JsonSchema } from '@quiver/core/schema';
import type { ProtocolTool } from '@quiver/mcp/client';

/** Returns arguments that match a tool's schema. One tool of the suite expects the schema of the first tool as its argument. */
export function sampleArguments(
  { inputSchema }: ProtocolTool,
  [first]: readonly ProtocolTool[],
): Record<string, unknown> {
  const properties = (inputSchema.properties ?? {}) as Record<string, JsonSchema>;
  if ('schema' in properties) return { schema: first?.inputSchema };
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema)]));
}

function sampleOf({ type, default: usual, enum: allowed }: JsonSchema): unknown {
  if (usual !== undefined) return usual;
  if (Array.isArray(allowed)) return allowed[0];
  const samples: Record<string, unknown> = {
    string: 'test',
    number: 1,
    integer: 1,
    boolean: true,
    array: [],
    object: {},
  };
  return samples[String(type)] ?? 'test';
}
