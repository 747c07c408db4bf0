/**
 * Every endpoint under requests that are generated from the server's own description: whatever comes in, what goes out is
 * an answer of the interface. `node bench/hostile-clients.mjs` asks many more of a running server.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEndpoints } from '../../../bench/load/openapi-requests.mjs'
import { createAccountsApp } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY, KEY } from '../../support/servers/test-app.ts'
import { lengthOf } from '../../support/length-of.ts'

/** The same each time; a failure names the smallest request that shows it. */
const SEED = 5
const RUNS_WITH_BODY = lengthOf({ test: 20, soak: 2000 })
const RUNS_WITHOUT_BODY = lengthOf({ test: 4, soak: 500 })

const SECRETS = { public: null, key: KEY, admin: ADMIN_KEY } as const
const STATUSES = [200, 400, 401, 404, 409, 429]
/** Answers for a minute, whatever comes in. */
const ENDLESS = 'GET /v1/admin/status/stream'
/** A key is right, and not enough. */
const FOR_GUESTS = 'POST /v1/auth/first-admin'

describe('random requests', () => {
  it('to every endpoint are answered as the interface says, and change no object of the program', async () => {
    const { app } = await createAccountsApp()
    const endpoints = readEndpoints((await app.inject('/openapi.json')).json()).filter(
      ({ name }) => name !== ENDLESS,
    )
    const prototypeNames = Object.getOwnPropertyNames(Object.prototype)
    const asked = new Map<string, number>()

    for (const { name, method, access, hasBody, requests } of endpoints) {
      const secret = SECRETS[access]
      await fc.assert(
        fc.asyncProperty(requests, async ({ url, body }) => {
          const { statusCode, body: answer } = await app.inject({
            method: method as 'GET',
            url,
            headers: {
              ...(secret !== null && { authorization: `Bearer ${secret}` }),
              ...(body !== null && { 'content-type': 'application/json' }),
            },
            ...(body !== null && { payload: body }),
          })
          asked.set(`${name} ${statusCode}`, (asked.get(`${name} ${statusCode}`) ?? 0) + 1)

          const statuses = name === FOR_GUESTS ? [...STATUSES, 403] : STATUSES
          expect(statuses, `${name}: ${answer}`).toContain(statusCode)
          if (statusCode >= 400) expect(JSON.parse(answer)).toMatchObject({ detail: expect.any(String) })
        }),
        { numRuns: hasBody ? RUNS_WITH_BODY : RUNS_WITHOUT_BODY, seed: SEED },
      )
    }

    expect(endpoints.length).toBeGreaterThan(30)
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototypeNames)
    // They reach what is behind the validation, and do not always.
    expect(asked.get('POST /v1/generate 200')).toBeGreaterThan(RUNS_WITH_BODY / 10)
    expect(asked.get('POST /v1/generate 400')).toBeGreaterThan(RUNS_WITH_BODY / 10)
  })
})
