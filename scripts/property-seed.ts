import { configureGlobal } from 'fast-check';

/**
 * Properties check the same values in each run, so that a test fails for a change and not by chance. `QUIVER_SEED=2 pnpm unit` checks others.
 */
configureGlobal({ seed: Number(process.env['QUIVER_SEED'] ?? 1) });
