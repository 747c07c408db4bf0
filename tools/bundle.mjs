// @ts-check
/**
 * Joins the modules that the processes of the program load into few files, `bundle` beside them: to find, read and link a thousand
 * modules one by one is a quarter of what a start costs. Who imports the package gets the modules as they are, and so do worker
 * threads. Run by `prepare.mjs`, with the
 * folder that is compiled.
 */
import path from 'node:path'
import { rolldown } from 'rolldown'

/** What processes are started with, below `dist`. */
const ENTRIES = ['cli/main.js', 'app/workers/worker-main.js', 'engines/process/engine-main.js']

/** CommonJS is loaded as fast without; the others find files of theirs, or are loaded by what is. */
const BUNDLED = new Set(['kysely', 'zod', 'fastify-type-provider-zod', 'commander', 'eventsource-parser'])

/** @param {string} dist an absolute path */
async function bundle(dist) {
  const built = await rolldown({
    input: Object.fromEntries(ENTRIES.map((entry) => [path.basename(entry, '.js'), path.join(dist, entry)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id) && !BUNDLED.has(id.split('/')[0] ?? ''),
    plugins: [
      {
        name: 'places',
        transform: (code, id) => (path.isAbsolute(id) ? keepPlaces(code, path.relative(dist, id)) : null),
      },
    ],
  })
  await built.write({ dir: path.join(dist, 'bundle'), format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await built.close()
}

/** Each module goes on finding what lies beside it; an entry is that of the bundle. @param {string} code @param {string} file */
function keepPlaces(code, file) {
  if (!code.includes('import.meta.url')) return null
  const folder = path.dirname(file)
  return code
    .replaceAll(/new URL\('([^']+\.js)', import\.meta\.url\)/g, (expression, target) =>
      ENTRIES.includes(path.join(folder, target))
        ? `new URL('${path.basename(target)}', import.meta['url'])`
        : expression,
    )
    .replaceAll('import.meta.url', `new URL('../${file}', import.meta['url']).href`)
    .replaceAll("import.meta['url']", 'import.meta.url')
}

await bundle(path.resolve(process.argv[2] ?? 'dist'))
