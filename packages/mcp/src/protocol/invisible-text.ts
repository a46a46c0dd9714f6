/** Zero-width spaces, marks that change the direction of other characters, and tags: what a user does not see, and a model reads. */
const invisible = /[\u200B\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/u;
/** Tags are part of the flags of regions such as Scotland. */
const flags = /\u{1F3F4}[\u{E0020}-\u{E007E}]{3,6}\u{E007F}/gu;
const flagsAndTags = new RegExp(`${flags.source}|[\\u{E0000}-\\u{E007F}]`, 'gu');

export function hasInvisibleText(text: string): boolean {
  return invisible.test(text.replaceAll(flags, ''));
}

/**
 * Returns a text, or an object of JSON with its titles and descriptions, without tags, which can hide instructions to a model. Marks of
 * direction stay: texts in Arabic and Hebrew need them.
 */
export function withoutTags<Value>(value: Value): Value {
  if (typeof value === 'string') return removeTags(value) as Value & string;
  const text = JSON.stringify(value);
  if (text === undefined || removeTags(text) === text) return value;
  return JSON.parse(text, (key, member: unknown) =>
    typeof member === 'string' && (key === 'description' || key === 'title') ? removeTags(member) : member,
  ) as Value;
}

function removeTags(text: string): string {
  return text.replaceAll(flagsAndTags, (found) => (found.length > 2 ? found : ''));
}
