// @ts-check
/**
 * Builds the console into `dist/console/` (`npm run build` calls it with its own output folder). All URLs are relative, so that
 * it works under a path; one style sheet and no inline script, because the page's content security policy allows no other.
 */
import path from 'node:path'
import { defineConfig } from 'vite'

const HERE = import.meta.dirname

export default defineConfig({
  root: HERE,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: path.join(HERE, '..', 'dist', 'console'),
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
