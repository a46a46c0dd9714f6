import { invalidOptions } from '@quiver/core/internal';

/** Returns whether a path with `/` between its parts matches. */
export type PathMatcher = (path: string) => boolean;

/**
 * Matches paths by patterns: `*` and `?` stand for characters within a name, `**` for any number of folders, `{a,b}` for either,
 * `[a-z]` for one of them. A pattern without `/` is matched with the file name alone.
 *
 * @throws `OPTIONS_INVALID` for a pattern with an unclosed bracket or brace
 */
export function createPathMatcher(patterns: readonly string[]): PathMatcher {
  const expressions = patterns.map((pattern) => ({ isPath: pattern.includes('/'), expression: toExpression(pattern) }));
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return expressions.some(({ isPath, expression }) => expression.test(isPath ? path : name));
  };
}

const tokens = /\*\*\/|\/\*\*$|\*+|\?|\{|\}|,|\[(?:!|\^)?[^\]/]+\]|\\?[^]/gu;

function toExpression(pattern: string): RegExp {
  let open = 0;
  const parts = (pattern.replace(/^\.?\//, '').match(tokens) ?? []).map((token) => {
    if (token === '**/') return '(?:.*/)?';
    if (token === '/**') return '(?:/.*)?';
    if (token.startsWith('*')) return token.length > 1 ? '.*' : '[^/]*';
    if (token === '?') return '[^/]';
    if (token === '{') open++;
    if (token === '{') return '(?:';
    if (token === '}' && open > 0) {
      open--;
      return ')';
    }
    if (token === ',' && open > 0) return '|';
    if (token.length > 2 && token.startsWith('[')) {
      return `[${token
        .slice(1, -1)
        .replace(/^[!^]/, '^')
        .replace(/[\\[]/g, String.raw`\$&`)}]`;
    }
    return token.replace(/^\\(?=.)/u, '').replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  });
  if (open > 0) throw invalidOptions(`The pattern '${pattern}' has an open '{'. Close it, or write '\\{'.`);
  try {
    return new RegExp(`^${parts.join('')}$`, 'u');
  } catch (error) {
    throw invalidOptions(`The pattern '${pattern}' cannot be read.`, { cause: error });
  }
}
