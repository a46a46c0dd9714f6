type Defined<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<Members[Name], undefined>;
};

/** Returns an object without its undefined members, for optional members of messages and of public types. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  // Not `Object.fromEntries()` of a filtered list: 1.3 µs instead of 0.35 for three members.
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as Defined<Members>;
}
