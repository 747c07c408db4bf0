/**
 * Reads the body of a request after all gates have let it pass: up to the bound of its route, within the budget of all bodies,
 * and parsed as JSON. A route that takes no body ignores one, and no byte of it is kept.
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addressKey } from '../../net/client-address.ts'
import { onExchangeEnd } from '../../net/connections/client-presence.ts'
import { BodyBudget, type BodyHold } from '../../net/requests/body-budget.ts'
import { parseJsonBody } from '../../net/requests/json-body.ts'
import { validateInSlices } from '../schemas/validator.ts'
import { bodyLimit, type BodyLimit, readBody } from '../../net/requests/read-body.ts'

/** Holds too few items for more than one slice. */
const SMALL_BODY_BYTES = 1000

/** @param firewallLimit applies where a route takes more. */
export function registerBodyParsers(app: FastifyInstance, firewallLimit: BodyLimit | null): void {
  const budget = new BodyBudget()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) => {
    const { maxBodyBytes = 0 } = request.context.route
    if (maxBodyBytes === 0) return Promise.resolve()
    const isAbove = firewallLimit !== null && maxBodyBytes > firewallLimit.maxBytes
    const limit = isAbove ? firewallLimit : bodyLimit(maxBodyBytes)
    const value = readValue(request, { payload, limit, openHold: () => openHold(budget, request) })
    request.context.work = value
    return value
  })
}

interface BodySource {
  readonly payload: Readable
  readonly limit: BodyLimit
  readonly openHold: () => BodyHold
}

async function readValue(request: FastifyRequest, { payload, ...options }: BodySource): Promise<unknown> {
  const { context, headers, routeOptions } = request
  const body = await readBody(payload, { headers, ...options })
  if (body.length === 0) return undefined
  const value = await parseJsonBody(body, {
    'content-type': context.contentType,
    'content-encoding': headers['content-encoding'],
  })
  // A small one is checked in less time than this would take.
  if (body.length > SMALL_BODY_BYTES) await validateInSlices(routeOptions.schema?.body, value)
  return value
}

/** Held until the request is answered and the work behind it has ended: until then something of the body may be in use. */
function openHold(budget: BodyBudget, { context, raw }: FastifyRequest): BodyHold {
  const hold = budget.open(addressKey(context.clientAddress))
  onExchangeEnd(raw, context.reply.raw, () => {
    void Promise.allSettled([context.work]).then(() => hold[Symbol.dispose]())
  })
  return hold
}
