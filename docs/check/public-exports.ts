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
  /** Options of the function, or of the constructor of the class. */
  options: PublicOption[];
  /** Codes of the `@throws` tags of the function, or of the constructor of the class. */
  errors: string[];
  /** Options of the methods of the class. */
  methodOptions: PublicOption[];
}

export interface PublicOption {
  name: string;
  /** Name of the declared type that has the option. */
  owner: string;
  type: string;
  isRequired: boolean;
  documentation: string;
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

const entries = readEntryPoints().flatMap(({ file, internal }) => (internal ? [] : [file]));

/** Returns a program of the entry points and of a module that imports them. */
export function createProgram(module: { file: string; text: string }): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const configuration = ts.getParsedCommandLineOfConfigFile(join(repository, 'docs/tsconfig.json'), {}, host);
  const options = { ...configuration?.options, noEmit: true };
  const compilerHost = ts.createCompilerHost(options);
  const { getSourceFile } = compilerHost;
  compilerHost.getSourceFile = (name, ...rest) =>
    name === module.file
      ? ts.createSourceFile(name, module.text, ts.ScriptTarget.Latest)
      : getSourceFile.call(compilerHost, name, ...rest);
  return ts.createProgram([...entries, module.file], options, compilerHost);
}

/** Returns the exports of every entry point of the packages, each once; not those of entry points for Quiver's own packages. */
export function readPublicExports(program: ts.Program): PublicExport[] {
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
    const signatures = signaturesOf(checker, symbol);
    const thrown = signatures.flatMap((signature) => signature.getJsDocTags()).filter(({ name }) => name === 'throws');
    return {
      name: symbol.name,
      file,
      documentation: text(symbol.getDocumentationComment(checker)),
      examples: tags.filter(({ name }) => name === 'example').map((tag) => text(tag.text)),
      options: readOptions(checker, signatures),
      errors: [...new Set(thrown.flatMap((tag) => text(tag.text).match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []))],
      methodOptions: readOptions(checker, methodsOf(checker, symbol)),
    };
  });
}

/** Types whose members are options, by their names. Others are objects that programs pass on, such as clients of vendors. */
const optionType = /(Options?|Settings|Config|Params|Definition)$/;

function readOptions(checker: ts.TypeChecker, signatures: readonly ts.Signature[]): PublicOption[] {
  const options = new Map<string, PublicOption>();
  for (const parameter of signatures.flatMap((signature) => signature.getParameters())) {
    const { valueDeclaration: place } = parameter;
    if (!place) continue;
    const given = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(parameter, place));
    for (const type of given.isUnion() ? given.types : [given]) {
      for (const option of checker.getPropertiesOfType(type)) {
        const owner = ownerOf(option);
        const valueType = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(option, place));
        if (!optionType.test(owner) || valueType.flags & ts.TypeFlags.Never) continue;
        const tags = option.getJsDocTags(checker).flatMap(({ text }) => text ?? []);
        options.set(`${owner}.${option.name}`, {
          name: option.name,
          owner,
          type: checker.typeToString(valueType),
          isRequired: !(option.flags & ts.SymbolFlags.Optional),
          documentation: ts.displayPartsToString([...option.getDocumentationComment(checker), ...tags]).trim(),
        });
      }
    }
  }
  return [...options.values()];
}

/** Name of the interface or type alias of this repository that declares a member, or an empty text. */
function ownerOf({ declarations: [declaration] = [] }: ts.Symbol): string {
  if (!declaration?.getSourceFile().fileName.startsWith(join(repository, 'packages/'))) return '';
  const isOwner = (node: ts.Node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return ts.findAncestor(declaration, isOwner)?.name.text ?? '';
}

/** Signatures of a function, or of the constructor of a class. */
function signaturesOf(checker: ts.TypeChecker, symbol: ts.Symbol): readonly ts.Signature[] {
  if (!symbol.valueDeclaration) return [];
  const type = checker.getTypeOfSymbol(symbol);
  return [...type.getCallSignatures(), ...type.getConstructSignatures()];
}

/** Signatures of the public methods of a class. */
function methodsOf(checker: ts.TypeChecker, symbol: ts.Symbol): readonly ts.Signature[] {
  if (!(symbol.flags & ts.SymbolFlags.Class)) return [];
  const isPublic = ({ valueDeclaration: method }: ts.Symbol): boolean =>
    method !== undefined &&
    ts.isMethodDeclaration(method) &&
    !ts.isPrivateIdentifier(method.name) &&
    !(ts.getCombinedModifierFlags(method) & ts.ModifierFlags.NonPublicAccessibilityModifier);
  const methods = checker.getDeclaredTypeOfSymbol(symbol).getProperties().filter(isPublic);
  return methods.flatMap((method) => checker.getTypeOfSymbol(method).getCallSignatures());
}
