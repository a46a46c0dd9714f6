/** Verbs that people and authors of tools use for the same action. A word of a query also finds the others of its group, with less weight. */
const synonyms = [
  'create add new make insert register open start write draw file save schedule',
  'delete remove drop erase clear uninstall unregister forget',
  'list show enumerate browse all which get',
  'search find query lookup look locate discover grep list',
  'get read fetch retrieve view load show download see content info detail what',
  'update edit change modify set patch rename replace put',
  'write save store put upload append',
  'send post publish notify message email mail tell say',
  'reply answer respond comment',
  'run execute call invoke launch start perform trigger',
  'rerun retry again restart repeat',
  'stop cancel abort end kill close terminate',
  'move transfer relocate migrate rename',
  'copy duplicate clone fork',
  'merge combine join accept',
  'link connect relate association relation',
  'click press hit tap',
  'navigate go visit',
  'attach upload attachment',
  'share invite permission',
  'forward pass',
  'file document',
  'folder directory dir',
  'disk file filesystem',
  'size big large space length',
  'issue ticket bug',
  'person user people member contact account profile who',
  'profile email phone',
  'member belong participant',
  'picture image photo screenshot media',
  'page site website web webpage tab',
  'internet web online url',
  'crawl scrape download extract',
  'calendar event meeting appointment agenda',
  'table sheet spreadsheet',
  'row record entry item',
  'column field property attribute',
  'machine resource runner',
  'repository repo project',
  'database db sql',
  'comment reply answer note',
  'weather forecast temperature',
  'map place location geocode address',
  'latitude longitude coordinate geocode',
  'drive route direction travel',
  'log history audit output',
  'error failure fail problem crash log',
  'performance slow fast speed slowly trace',
  'change diff',
  'check status test valid validate lint verify correct',
  'approve approval review',
  'lock protect',
  'secret variable credential',
  'terminal shell command console process',
  'process program application app run computer',
  'cluster kubernetes kubectl pod replica',
  'article paper news headline',
  'video clip recording screencast',
  'research investigate',
  'docs documentation manual guide',
  'emoji reaction',
  'todo task reminder remind',
  'automation automatically automatic workflow rule',
  'vulnerability security',
  'structure tree nested hierarchy',
];

/** Words of requests that do not describe a tool. */
const ignored = new Set(
  `a an the of to in on at by for from with and or is are was were be been being do does did can could would should will may must my me
  i we us our you your it its they them their he his she her this that these those whom whose how why when where there here
  please need want have has had let am any some so if than then as into about up out via also just now everything something anything exist`
    .split(/\s+/)
    .map(stem),
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

/**
 * Returns the stems of a text, split at the places where names are joined: `getUser_by-id` has `getuser`, `get`, `user`, `by` and `id`.
 * The joined word is for names such as GitHub, which people write in several ways.
 */
export function splitWords(text: string): string[] {
  return readTokens(text).flatMap((token) => {
    const parts = splitCase(token);
    return (parts.length > 1 ? [token.toLowerCase(), ...parts] : parts).map(stem);
  });
}

function readTokens(text: string): string[] {
  return text.replaceAll(/(\p{Lu}{2})s\b/gu, '$1').match(/[\p{L}\p{N}]+/gu) ?? [];
}

function splitCase(token: string): string[] {
  return token
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(' ');
}

/** Short forms of names that tools have in full. `Mr` and `Mrs` are people. */
const shortForms: readonly (readonly [RegExp, string])[] = [
  [/\b(?:PR|pr)s?\b/g, 'pull request'],
  [/\bMRs?\b/g, 'merge request'],
  [/\bgo to\b/gi, 'navigate'],
  [/\bup to date\b/gi, 'update'],
];

/** Returns the words of a request, each with its parts and the words of the same meaning. */
export function readRequest(query: string): readonly { readonly word: string; readonly others: readonly string[] }[] {
  const tokens = readTokens(shortForms.reduce((text, [form, words]) => text.replaceAll(form, words), query));
  const words = new Map(
    tokens.map((token) => {
      const word = stem(token.toLowerCase());
      const others = new Set([...splitCase(token).map(stem), ...(groups.get(word) ?? [])]);
      others.delete(word);
      return [word, { word, others: [...others] }] as const;
    }),
  );
  const telling = [...words.values()].filter(({ word }) => !ignored.has(word) && !/^\d+$/.test(word));
  return telling.length > 0 ? telling : [...words.values()];
}

/** English endings only: names of tools are English nearly always, and words of other languages are unchanged. */
function stem(word: string): string {
  if (word.length < 4) return word;
  return word
    .replace(/(ss|sh|ch|x|z)es$/, '$1')
    .replace(/ies$/, 'y')
    .replace(/([^su])s$/, '$1')
    .replace(/(?<=\w{3})(?:ing|ed|er|or|ment)$|(?<=\w{4})ion$/, '')
    .replace(/(?<=\w{3})e$/, '')
    .replace(/([bdgmnprt])\1$/, '$1');
}
