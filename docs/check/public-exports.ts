import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { readEntryPoints } from './entry-points.ts';

/** An export of an entry point, declared in this repository. */
export interface PublicExport {
  name: string;
  /** File of the declaration, relative to the repository. */
  file: string;
  documentation: string;
  /** Code of the `@example` tags. */
  examples: string[];
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the exports of every entry point of the packages, each once; not those of entry points for Quiver's own packages. */
export function readPublicExports(): PublicExport[] {
  const entries = readEntryPoints().flatMap(({ file, internal }) => (internal ? [] : [file]));
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const configuration = ts.getParsedCommandLineOfConfigFile(join(repository, 'docs/tsconfig.json'), {}, host);
  const program = ts.createProgram(entries, { ...configuration?.options, noEmit: true });
  const checker = program.getTypeChecker();
  const symbols = entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile);
    return module ? checker.getExportsOfModule(module) : [];
  });
  const declared = new Set(
    symbols.map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)),
  );
  return [...declared].flatMap((symbol) => {
    const file = symbol.declarations?.[0]?.getSourceFile().fileName.slice(repository.length) ?? '';
    if (!file.startsWith('packages/') || file.includes('node_modules')) return [];
    const tags = symbol.getJsDocTags(checker);
    const text = (parts?: ts.SymbolDisplayPart[]): string => ts.displayPartsToString(parts);
    return {
      name: symbol.name,
      file,
      documentation: text(symbol.getDocumentationComment(checker)),
      examples: tags.filter(({ name }) => name === 'example').map((tag) => text(tag.text)),
    };
  });
}
