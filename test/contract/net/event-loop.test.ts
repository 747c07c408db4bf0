/**
 * The worst bodies that the bounds admit, on every route that takes one: whatever their shape, the work on them is spread over
 * turns of the event loop in proportion to it, or refused before it is done. How long a turn takes is measured by
 * `npm run bench:attack`, which has the same bodies.
 */
import { describe, expect, it } from 'vitest'
import { findCarrier, worstBodies } from '../../../bench/attack-cases/bodies.mjs'
import { SLICE_WORK } from '../../../src/net/requests/json-parser.ts'
import { lengthOf } from '../../support/length-of.ts'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { ADMIN_KEY, createTestApp, KEY } from '../../support/servers/test-app.ts'

interface Operation {
  readonly security: readonly Record<string, unknown>[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Record<string, unknown> }> }
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> }
}

/** Bounds that bodies of these shapes break: nothing of them is looked at beyond what shows it. */
const BOUND =
  /^The request body must (?:be at most \d+ bytes|be nested at most 100 levels deep|hold (?:at most 50000 values|no object of more than 1000 names))\./

/** A slice ends behind the piece of a string with which its work is done, which is never longer than the slice. */
const MAX_SLICE_BYTES = 2 * SLICE_WORK

/** Every route gets every sixth kind of body, the next route the next one: a soak sends all. */
const EVERY = lengthOf({ test: 12, soak: 1 })

/** Runs `work` and counts the turns of the event loop meanwhile. */
async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  const watch = { isOver: false }
  const count = () => {
    turns++
    if (!watch.isOver) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  watch.isOver = true
  return { result, turns }
}

describe('the worst bodies', () => {
  it('of every route are refused by a bound, or worked on over many turns', async () => {
    const engine = new ScriptedEngine(sayOk, { maxSeqLen: null })
    const { app } = createTestApp({ engine })
    const { paths, components } = (await app.inject('/openapi.json')).json<OpenApiDocument>()
    let workedOn = 0
    let routes = 0
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { requestBody, security }] of Object.entries(operations)) {
        const schema = requestBody?.content['application/json']?.schema
        if (schema === undefined) continue
        const [scheme] = security.flatMap(Object.keys)
        const authorization = `Bearer ${scheme === 'adminKey' || scheme === 'metricsKey' ? ADMIN_KEY : KEY}`
        const bodies = [...worstBodies(findCarrier(schema, components.schemas))]
        const first = routes++ % EVERY
        for (const [kind, makeBody] of bodies.filter((_, index) => index % EVERY === first)) {
          const payload = makeBody()
          const headers = { authorization, 'content-type': 'application/json' }
          const url = path.replaceAll(/\{\w+\}/g, 'x')
          const { result, turns } = await countTurns(() =>
            app.inject({ method: method as 'POST', url, headers, payload }),
          )
          const what = `${method} ${path}, ${kind}: ${result.statusCode} ${result.body.slice(0, 200)}`
          const isRefused = result.statusCode === 400 && BOUND.test(result.json<{ detail: string }>().detail)
          if (isRefused) continue
          workedOn++
          expect(turns, what).toBeGreaterThanOrEqual(Math.floor(payload.length / MAX_SLICE_BYTES))
        }
      }
    }
    expect(workedOn).toBeGreaterThan(lengthOf({ test: 2, soak: 20 }))
  }, 120_000)
})
