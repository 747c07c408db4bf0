// @ts-check
/** All that `attack.mjs` measures: every route of the interface with the worst bodies that its bounds admit, and the known attacks. */
import { ADMIN_KEY } from '../servers/serve.mjs'
import { ATTACKS } from './attacks.mjs'
import { fill, findCarrier, longBatch, worstBodies } from './bodies.mjs'
import { send } from './client.mjs'

/** @typedef {import('./attacks.mjs').Scene} Scene */
/** @typedef {import('./bodies.mjs').Json} Json */

/**
 * @typedef {object} Case
 * @property {string} route
 * @property {string} kind
 * @property {boolean} needsFreshServer whether what ran before would change its figures of memory
 * @property {number} timeoutMs
 * @property {string[]} [options] the server is started with these
 * @property {(scene: Scene & { key: string }) => Promise<string | void>} run
 */

const BODY_TIMEOUT_MS = 15_000
const ATTACK_TIMEOUT_MS = 45_000
const QUIET_MS = 2000
const ABORTS = 5
const LEAVE_AFTER_MS = 400
/** Node's bound on a head, less what stands around the query. */
const QUERY_BYTES = 15_000

/** @param {Json} document of OpenAPI @returns {Case[]} */
export function listCases(document) {
  const routes = Object.entries(document['paths']).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      routeCases({ path, method: method.toUpperCase(), operation }, document['components'].schemas),
    ),
  )
  /** @type {Case} */
  const quiet = {
    ...{ route: 'nothing', kind: 'no load', needsFreshServer: false, timeoutMs: BODY_TIMEOUT_MS },
    run: async () => new Promise((resolve) => setTimeout(resolve, QUIET_MS)),
  }
  const attacks = ATTACKS.map(({ name, run, options = [] }) => ({
    ...{ route: 'attack', kind: name, needsFreshServer: true, timeoutMs: ATTACK_TIMEOUT_MS, run, options },
  }))
  return [quiet, ...routes, ...attacks]
}

/** @param {{ path: string, method: string, operation: Json }} route @param {Json} schemas @returns {Case[]} */
function routeCases({ path, method, operation }, schemas) {
  const route = `${method} ${path}`
  const filled = path.replaceAll(/\{\w+\}/g, 'stall')
  const [scheme] = operation['security'].flatMap(Object.keys)
  const keyOf = (/** @type {string} */ key) =>
    scheme === undefined ? {} : { key: scheme === 'adminKey' ? ADMIN_KEY : key }
  /** @param {string} kind @param {(scene: Scene, key: { key?: string }) => Promise<void>} run @returns {Case} */
  const routeCase = (kind, run) => ({
    ...{ route, kind, needsFreshServer: false, timeoutMs: BODY_TIMEOUT_MS },
    run: (scene) => run(scene, keyOf(scene.key)),
  })
  const schema = operation['requestBody']?.content['application/json'].schema
  if (schema === undefined) {
    return [
      routeCase('a body that is not asked for, a long query', async ({ address, signal, count }, key) => {
        const body = fill('[],')
        const query = `?${'x&'.repeat(QUERY_BYTES / 2)}`
        count(await send(address, { method, path: filled, ...key, body }, signal))
        count(await send(address, { method, path: filled + query, ...key }, signal))
      }),
    ]
  }
  const bodies = worstBodies(findCarrier(schema, schemas))
  const isBatch = bodies.has('64 prompts of <s>')
  const last = isBatch ? () => longBatch() : bodies.get('special tokens')
  return [
    ...[...bodies].map(([kind, makeBody]) =>
      routeCase(kind, async ({ address, signal, count }, key) => {
        count(await send(address, { method, path: filled, ...key, body: makeBody() }, signal))
      }),
    ),
    routeCase('aborted again and again', async ({ address, signal, count }, key) => {
      const body = last?.() ?? ''
      for (let i = 0; i < ABORTS && !signal.aborted; i++) {
        const request = { method, path: filled, ...key, body, abortAfterMs: LEAVE_AFTER_MS }
        count(await send(address, request, signal))
      }
    }),
  ]
}
