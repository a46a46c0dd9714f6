// Enables Node to run the packages' TypeScript sources: resolves `./x.js` to `./x.ts` if only the latter exists. The program of a worker
// thread has a URL and no parent.
import { existsSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiling the sources is more than half of the work of a short program, and tests start hundreds.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/quiver/compiled', import.meta.url)));

registerHooks({
  resolve(specifier, context, next) {
    const isRelative = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    const isProgram = specifier.startsWith('file:') && context.parentURL === undefined;
    if ((isRelative || isProgram) && specifier.endsWith('.js')) {
      const source = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
});
