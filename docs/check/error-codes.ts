import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Capitals that look like a code of Quiver and are something else: codes of Node.js and libraries, names of operations, constants. */
const otherCapitals =
  /^(ERR|UND_ERR|EAI|CANCEL|GET|LIST|READ|SET|ON|SUBSCRIBE|UNSUBSCRIBE|UPDATE)_|^(OAUTH_(UNSUPPORTED_OPERATION|RESPONSE_BODY_ERROR|AUTHORIZATION_RESPONSE_ERROR)|STRAY_OUTPUT|THIRD_PARTY|PROCESSOR_ARCHITECTURE|TOKEN_NOT_ALLOWED|TOOL_EXECUTION)$/;

/** Returns every error code in the sources of the packages, with the messages that the sources contain. */
export function readErrorCodes(repository: string): Map<string, Set<string>> {
  const codes = new Map<string, Set<string>>();
  const files = globSync('packages/*/src/**/*.ts', { cwd: repository }).filter(
    (path) => !/\.(test|test-d|fixture)\.ts$|devtools\/src\/stores\/|\/compat\//.test(path),
  );
  for (const file of files) {
    const source = ts.createSourceFile(
      file,
      readFileSync(`${repository}/${file}`, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteral(node) && /^[A-Z][A-Z\d]*(_[A-Z\d]+)+$/.test(node.text) && !otherCapitals.test(node.text)) {
        const messages = codes.get(node.text) ?? new Set();
        codes.set(node.text, messages);
        for (const message of messagesBeside(node)) messages.add(message);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return codes;
}

/** The message in the same call as a code, or those that a function of the file passes on to it; expressions become `<name>`. */
function messagesBeside(code: ts.Node): string[] {
  let node: ts.Node = code;
  while (node.parent && !ts.isCallExpression(node.parent) && !ts.isNewExpression(node.parent)) {
    if (ts.isStatement(node.parent)) return [];
    node = node.parent;
  }
  const call = node.parent as ts.CallExpression | ts.NewExpression | undefined;
  const place = call?.arguments?.indexOf(node as ts.Expression) ?? -1;
  const next = place < 0 ? undefined : call?.arguments?.[place + 1];
  const texts = next && ts.isIdentifier(next) ? passedOn(next) : [next && textOf(next)];
  return texts.filter((text) => text !== undefined);
}

/** The texts with which the function around a parameter is called in its file. */
function passedOn(parameter: ts.Identifier): (string | undefined)[] {
  let node: ts.Node = parameter;
  while (node.parent && !ts.isFunctionDeclaration(node) && !ts.isArrowFunction(node)) node = node.parent;
  if (!ts.isFunctionDeclaration(node) && !ts.isArrowFunction(node)) return [];
  const place = node.parameters.findIndex(({ name }) => name.getText() === parameter.text);
  const name = ts.isFunctionDeclaration(node) ? node.name : (node.parent as ts.VariableDeclaration).name;
  const texts: (string | undefined)[] = [];
  const visit = (other: ts.Node): void => {
    const argument =
      ts.isCallExpression(other) && other.expression.getText() === name?.getText() && other.arguments[place];
    if (argument) texts.push(textOf(argument));
    ts.forEachChild(other, visit);
  };
  visit(parameter.getSourceFile());
  return texts;
}

function textOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return (
      node.head.text +
      node.templateSpans.map(({ expression, literal }) => `<${nameOf(expression)}>${literal.text}`).join('')
    );
  }
  if (ts.isBinaryExpression(node)) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left !== undefined && right !== undefined ? left + right : undefined;
  }
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression);
  return undefined;
}

/** The last name in an expression, such as `path` of `JSON.stringify(options.path)`. */
function nameOf(expression: ts.Expression): string {
  const isName = (word: string): boolean =>
    !/^(String|JSON|stringify|map|join|toErrorMessage|message|length|keys|Object|Array|from|slice|typeof)$/.test(word);
  return (expression.getText().match(/[a-z]\w*/gi) ?? []).findLast(isName) ?? 'value';
}
