import { Converter, ReflectionKind } from 'typedoc';
import { MarkdownPageEvent } from 'typedoc-plugin-markdown';
import { readEntryPoints } from './check/entry-points.ts';
import { readPublicExports } from './check/public-exports.ts';

const entries = readEntryPoints().filter(({ internal }) => !internal);

/** Modules have the names that programs import, not the paths of their files. */
function nameModules(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const source = module.sources?.[0]?.fullFileName;
      module.name = entries.find(({ file }) => file === source)?.name ?? module.name;
    }
  });
}

const kinds = [ReflectionKind.Function, ReflectionKind.Class];

/** The page of a function, or of a class with a constructor, ends with a table of its options, and the codes of its errors. */
function listOptions(app) {
  let exported = [];
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ programs: [program] }) => (exported = readPublicExports(program)));
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    const { model } = page;
    if (!model?.kindOf?.(kinds)) return;
    const source = model.sources?.[0]?.fullFileName ?? model.signatures?.[0]?.sources?.[0]?.fullFileName;
    const found = exported.find(({ name, file }) => name === model.name && source?.endsWith(file));
    const rows = new Map(found?.options.map((option) => [option.name, toRow(option)]));
    if (rows.size === 0) return;
    const head = '| option | type | default | meaning |\n| --- | --- | --- | --- |';
    const errors = found.errors.map((code) => `[\`${code}\`](/reference/errors#${code})`).join(', ');
    page.contents += `\n## Options\n\n${head}\n${[...rows.values()].join('\n')}\n${errors && `\nErrors: ${errors}.\n`}`;
  });
}

function toRow({ name, type, isRequired, documentation }) {
  const none = isRequired ? 'required' : '';
  const [sentence = '', given = none] = /\bDefault:? ((?:[^.`]|`[^`]*`|\.(?=\S))+)\.?/.exec(documentation) ?? [];
  const cells = [`\`${name}\``, `\`${type}\``, given, documentation.replace(sentence, '')];
  return `| ${cells.map((cell) => cell.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
}

export default {
  name: 'API reference',
  plugin: ['typedoc-plugin-markdown', nameModules, listOptions],
  tsconfig: 'tsconfig.api.json',
  entryPoints: entries.map(({ file }) => file),
  out: 'reference/api',
  readme: 'none',
  disableGit: true,
  basePath: '..',
  sourceLinkTemplate: 'https://github.com/quiver-sdk/quiver/blob/main/packages/{path}#L{line}',
  excludePrivate: true,
  excludeInternal: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  validation: { notExported: false },
  treatWarningsAsErrors: true,
  skipErrorChecking: true,
};
