/** Verbs that people and authors of tools use for the same action. A word of a query also finds the others of its group, with less weight. */
const synonyms = [
  'create add new make insert register open start',
  'delete remove drop erase clear uninstall unregister',
  'list show enumerate browse all',
  'search find query lookup look locate discover grep',
  'get read fetch retrieve view load show download see',
  'update edit change modify set patch rename replace',
  'write save store put upload',
  'send post publish notify message email mail',
  'run execute call invoke launch start perform',
  'stop cancel abort end kill close terminate',
  'move transfer relocate migrate',
  'copy duplicate clone fork',
  'merge combine join',
  'file document path',
  'folder directory dir',
  'issue ticket bug',
  'person user people member contact',
  'picture image photo screenshot',
  'page site website url web webpage',
  'calendar event meeting appointment schedule',
  'table sheet spreadsheet',
  'repository repo project',
  'database db sql',
  'comment reply note',
  'weather forecast temperature',
  'map place location geocode address',
  'pull merge request pr',
  'log history audit',
];

/** Words of questions that say nothing about a tool. */
const ignored = new Set(
  'a an the of to in on at by for from with and or is are was be do does did can could would should will my me i you your it its this that these those what which who how please need want'.split(
    ' ',
  ),
);

const groups = new Map<string, Set<string>>();
for (const line of synonyms) {
  const words = line.split(' ').map(stem);
  for (const word of words) {
    const group = groups.get(word) ?? new Set();
    for (const other of words) group.add(other);
    groups.set(word, group);
  }
}

/** Returns the stems of a text, split at the places where names are joined: `getUser_by-id` has `get`, `user`, `by` and `id`. */
export function splitWords(text: string): string[] {
  return text
    .replaceAll(/(\p{Lu}{2})s\b/gu, '$1')
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(stem);
}

/** Returns the words of a request by their weights: its own count 1, those of the same meaning less. */
export function weighWords(query: string): Map<string, number> {
  const words = splitWords(query);
  const telling = words.filter((word) => !ignored.has(word));
  const weights = new Map<string, number>();
  for (const word of telling.length > 0 ? telling : words) {
    for (const other of groups.get(word) ?? []) weights.set(other, Math.max(weights.get(other) ?? 0, 0.35));
  }
  for (const word of telling.length > 0 ? telling : words) weights.set(word, 1);
  return weights;
}

/** English endings only: names of tools are English nearly always, and words of other languages stay as they are. */
function stem(word: string): string {
  if (word.length < 4) return word;
  return word
    .replace(/(ss|sh|ch|x|z)es$/, '$1')
    .replace(/ies$/, 'y')
    .replace(/([^su])s$/, '$1')
    .replace(/(?<=\w{3})(?:ing|ed|er|or|ion)$/, '')
    .replace(/(?<=\w{3})e$/, '')
    .replace(/([bdgmnprt])\1$/, '$1');
}
