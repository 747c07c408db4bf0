/**
 * What an application imports from `sluice/light`: a small server of its own, on Node's own modules and nothing else.
 *
 *   const server = createLightServer({ port: 8080 })
 *   server.route('GET', '/users/{id}', ({ params }) => ({ id: params.id }))
 *   await server.listen()
 */
export { createLightServer } from './light-server.ts'
export type { LightAddress, LightServer, LightServerOptions } from './light-server.ts'
export type { Handler, LightRequest, OnError } from './answer-request.ts'
export { DEFAULT_PUBLIC_PATHS } from './public-paths.ts'
export type { PathParams, Pattern } from './path-pattern.ts'
export type { Method } from './router.ts'

export { ServiceError, StartError } from '../core/errors.ts'
export type { ErrorCode } from '../core/errors.ts'
