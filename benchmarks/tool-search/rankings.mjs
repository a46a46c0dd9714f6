// Other ways to rank tools. Each gets a request, and returns the names of the tools that it finds, best first.

/** Words of a text as hosts split it: at case, and at everything that is neither letter nor digit. */
function splitWords(text) {
  return (
    text
      .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function byScore(scores) {
  return scores
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ name }) => name);
}

function toText(name, { title = '', description = '', inputSchema }) {
  return `${name} ${title} ${description} ${JSON.stringify(inputSchema)}`;
}

/** A regular expression of all words of the request, over names, descriptions and schemas; in the order of the list, which is all it has. */
export function rankByRegularExpression(tools) {
  const texts = Object.entries(tools).map(([name, tool]) => ({ name, text: toText(name, tool) }));
  return (request) => {
    const pattern = new RegExp(splitWords(request).join('|'), 'i');
    return texts.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
  };
}

/** Counts the words of the request that occur anywhere in the name or the description, as hosts with a substring search do. */
export function rankBySubstring(tools) {
  const texts = Object.entries(tools).map(([name, { description = '' }]) => ({
    name,
    text: `${name} ${description}`.toLowerCase(),
  }));
  return (request) => {
    const words = new Set(splitWords(request));
    return byScore(
      texts.map(({ name, text }) => ({ name, score: [...words].filter((word) => text.includes(word)).length })),
    );
  };
}

/** The formula of `toolSearch()` of AI SDK 7 without `search`: 2 for each word of the request in the name, 1 in the description. */
export function rankByWords(tools) {
  const words = Object.entries(tools).map(([name, { description = '' }]) => ({
    name,
    inName: new Set(splitWords(name)),
    inDescription: new Set(splitWords(description)),
  }));
  return (request) => {
    const asked = [...new Set(splitWords(request))];
    return byScore(
      words.map(({ name, inName, inDescription }) => ({
        name,
        score: asked.reduce((sum, word) => sum + (inName.has(word) ? 2 : 0) + (inDescription.has(word) ? 1 : 0), 0),
      })),
    );
  };
}

/** BM25 (k1 1.2, b 0.75) over name, description and schema as one text. */
export function rankByBM25(tools) {
  const texts = Object.entries(tools).map(([name, tool]) => {
    const words = splitWords(toText(name, tool));
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { name, counts, length: words.length };
  });
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const rarities = new Map();
  for (const { counts } of texts) for (const word of counts.keys()) rarities.set(word, (rarities.get(word) ?? 0) + 1);
  const rarityOf = (word) => {
    const count = rarities.get(word) ?? 0;
    return Math.log(1 + (texts.length - count + 0.5) / (count + 0.5));
  };
  return (request) => {
    const asked = [...new Set(splitWords(request))];
    return byScore(
      texts.map(({ name, counts, length }) => ({
        name,
        score: asked.reduce((sum, word) => {
          const count = counts.get(word) ?? 0;
          return sum + (rarityOf(word) * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average));
        }, 0),
      })),
    );
  };
}
