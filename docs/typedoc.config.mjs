import { Converter } from 'typedoc';
import { readEntryPoints } from './check/entry-points.ts';

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

export default {
  name: 'API reference',
  plugin: ['typedoc-plugin-markdown', nameModules],
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
