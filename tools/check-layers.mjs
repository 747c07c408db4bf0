// @ts-check
/**
 * Fails when an import in src/ goes against the architecture: up or sideways in the table of layers, to a package that
 * has another owner, or, from the light server, to anything that would load more than Node's own modules. The tables
 * below are the architecture; tests are free.
 */
import { builtinModules } from 'node:module'
import { readSourceImports, resolveImport } from './read-imports.mjs'
import { runCheck } from './run-check.mjs'

/** Imports go to a lower number, or stay in their own part. */
export const LAYERS = new Map(
  [
    ['core'],
    ['protocol'],
    ['net', 'scheduler', 'storage', 'limits', 'guards', 'checkpoints', 'telemetry', 'config'],
    ['engines', 'models', 'accounts', 'usage'],
    ['generation'],
    ['api', 'light'],
    ['app'],
    ['cli', 'index.ts', 'light.ts'],
  ].flatMap((parts, layer) => parts.map((part) => /** @type {const} */ ([part, layer]))),
)

/** The only part that may import each package; `@scope/` stands for all of a scope. */
const PACKAGE_OWNERS = new Map([
  ['fastify', 'api'],
  ['@fastify/', 'api'],
  ['fastify-type-provider-zod', 'api'],
  ['zod', 'api'],
  ['kysely', 'storage'],
  ['@photostructure/sqlite', 'storage'],
  ['pg', 'storage'],
  ['ioredis', 'limits'],
  ['@node-rs/argon2', 'accounts'],
  ['koffi', 'engines'],
  ['undici', 'engines'],
  ['eventsource-parser', 'engines'],
  ['@mlc-ai/web-xgrammar', 'engines'],
  ['@node-llama-cpp/', 'engines'],
  ['@huggingface/hub', 'checkpoints'],
  ['@huggingface/jinja', 'models'],
  ['commander', 'cli'],
  ['yaml', 'config'],
  ['pino', 'telemetry'],
  ['prom-client', 'telemetry'],
  ['@opentelemetry/', 'telemetry'],
])

/**
 * What `sluice/light` may reach without a dynamic import: no package is ever among it, so nothing native can be either.
 * The threads' own program, which the import graph does not show, keeps to the same list.
 */
const LIGHT_PARTS = new Set(['light.ts', 'light', 'core', 'net'])
const LIGHT_FILES = new Set([
  'app/create-light-server.ts',
  'generation/generate-answer.ts',
  'models/model-record.ts',
])
const LIGHT_LATER = ['light/http-front.ts', 'light/workers/passthrough-host.ts']
const LIGHT_WORKER = 'light/workers/generation-worker.ts'
const LIGHT_WORKER_PARTS = new Set(['light', 'core', 'protocol', 'scheduler', 'engines'])
const LIGHT_WORKER_FILES = new Set([
  'generation/events/sequence-fold.ts',
  'generation/events/reasoning-tokens.ts',
])

/** What it may import dynamically: what it listens with, and the ways to a key database and to a checkpoint. */
const LIGHT_DYNAMIC = new Set([...LIGHT_LATER, 'accounts/keys/key-file.ts', 'app/light-checkpoint.ts'])

/** @typedef {import('./read-imports.mjs').Import} Import */

/**
 * Gives one line for each import that breaks a rule.
 * @param {string} root
 * @returns {string[]}
 */
export function checkLayers(root) {
  const imports = readSourceImports(root)
  const violations = [...imports].flatMap(([file, imported]) =>
    imported.flatMap(({ specifier }) => {
      const problem = checkImport(file, specifier)
      return problem === null ? [] : [`src/${file}: imports ${specifier}, ${problem}`]
    }),
  )
  /** @param {string} file */
  const isLight = (file) => LIGHT_PARTS.has(partOf(file)) || LIGHT_FILES.has(file)
  return [
    ...violations,
    ...checkLight(imports, 'light.ts', isLight),
    ...LIGHT_LATER.flatMap((file) => checkLight(imports, file, isLight)),
    ...checkLight(
      imports,
      LIGHT_WORKER,
      (file) => LIGHT_WORKER_PARTS.has(partOf(file)) || LIGHT_WORKER_FILES.has(file),
    ),
  ]
}

/** @param {string} file @param {string} specifier @returns {string | null} */
function checkImport(file, specifier) {
  const part = partOf(file)
  const layer = LAYERS.get(part)
  if (layer === undefined) return `but ${part} has no layer`
  if (isBuiltin(specifier)) return null
  if (!specifier.startsWith('.')) return checkPackage(part, specifier)
  const target = resolveImport(file, specifier)
  if (target.startsWith('../')) return 'which is outside src'
  const targetPart = partOf(target)
  const targetLayer = LAYERS.get(targetPart)
  if (targetLayer === undefined) return `but ${targetPart} has no layer`
  if (targetPart === part || targetLayer < layer) return null
  return `which is ${targetLayer === layer ? 'in the same layer' : 'above it'} (${part} ${layer}, ${targetPart} ${targetLayer})`
}

/** @param {string} part @param {string} specifier */
function checkPackage(part, specifier) {
  const scope = `${specifier.split('/')[0]}/`
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  const owner = PACKAGE_OWNERS.get(name) ?? PACKAGE_OWNERS.get(scope)
  if (owner === undefined) return 'a package without an owner'
  return owner === part ? null : `a package that only ${owner} may import`
}

/**
 * Follows the static imports of one entry of the light server; what a file only takes types from is not loaded.
 * @param {Map<string, Import[]>} imports @param {string} entry @param {(file: string) => boolean} isAllowed
 */
function checkLight(imports, entry, isAllowed) {
  /** How each file is reached, for the message. */
  const reachedFrom = new Map(imports.has(entry) ? [[entry, entry]] : [])
  const queue = [...reachedFrom.keys()]
  /** @type {string[]} */
  const violations = []
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const from = reachedFrom.get(file) ?? file
    for (const { specifier, isStatic, isTypeOnly } of imports.get(file) ?? []) {
      if (isTypeOnly || isBuiltin(specifier)) continue
      const target = specifier.startsWith('.') ? resolveImport(file, specifier) : specifier
      if (!isStatic) {
        if (!LIGHT_DYNAMIC.has(target)) {
          violations.push(`src/${file}: the light server may not import ${target}, not even dynamically`)
        }
      } else if (!specifier.startsWith('.') || !isAllowed(target)) {
        violations.push(
          `src/${from}: the light server loads ${target} through src/${file}; import it dynamically`,
        )
      } else if (!reachedFrom.has(target)) {
        reachedFrom.set(target, from)
        queue.push(target)
      }
    }
  }
  return violations
}

/** The folder under src, or the file that stands alone there. @param {string} file */
function partOf(file) {
  return file.split('/')[0] ?? file
}

/** @param {string} specifier */
function isBuiltin(specifier) {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

runCheck(import.meta.url, checkLayers)
