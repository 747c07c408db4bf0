/** What the compiler knows of the light server's routes. Never runs: type checking it is the test. */
import { createLightServer, type Pattern } from '../../src/light.ts'

const server = createLightServer({ host: '::1', port: 0, publicPaths: ['/hook', '/u/{id}', '/x/*'] })

server.route('GET', '/users/{id}', ({ params }) => params.id.toUpperCase())
server.route('GET', '/{a}/x/{b}', async ({ params: { a, b }, query }) => a + b + query.getAll('x').join())
// @ts-expect-error -- the pattern has no such capture
server.route('GET', '/users/{id}', ({ params }) => params.name)
// @ts-expect-error -- the pattern has no capture at all
server.route('GET', '/users', ({ params }) => params.id)
// @ts-expect-error -- a body is unknown until it has been checked
server.route('POST', '/users', ({ body }) => body.name)
// @ts-expect-error -- params cannot be written to
server.route('GET', '/users/{id}', ({ params }) => (params.id = ''))
// @ts-expect-error -- a pattern begins with a slash
server.route('GET', 'users', () => null)
// @ts-expect-error -- the route of GET answers HEAD
server.route('HEAD', '/users', () => null)

const runTimePattern: Pattern = `/${process.title}`
server.route('DELETE', runTimePattern, ({ params }) => {
  const id: string | undefined = params['id']
  // @ts-expect-error -- nobody knows whether the pattern captures it
  return id.length
})

// @ts-expect-error -- null while the server does not listen
export const url: string = server.address().url

server.route('GET', '/me', ({ credential }) => credential?.accountId ?? null)
// @ts-expect-error -- nobody knows whose key it is on a public path
server.route('GET', '/you', ({ credential }) => credential.accountId)
// @ts-expect-error -- there is no such option
createLightServer({ worker: 2 })
// @ts-expect-error -- a number, not a text
createLightServer({ workers: '2' })
