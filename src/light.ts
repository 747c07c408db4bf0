/**
 * What an application imports from `sluice/light`: a small server of its own, on Node's own modules and nothing else
 * until a key database or a checkpoint is given.
 *
 *   const server = createLightServer({ port: 8080 })
 *   server.route('GET', '/users/{id}', ({ params }) => ({ id: params.id }))
 *   await server.listen()
 */
export { createLightServer } from './app/create-light-server.ts'
export type { LightAddress } from './light/http-front.ts'
export type { LightServer } from './light/light-server.ts'
export type { LightModelOptions, LightServerOptions, OnError } from './light/light-options.ts'
export type { Handler } from './light/answer-request.ts'
export type { LightRequest } from './light/exchange.ts'
export { DEFAULT_PUBLIC_PATHS, type PathParams, type Pattern } from './light/routing/path-pattern.ts'
export type { Method } from './light/routing/router.ts'

export { ServiceError, StartError } from './core/errors.ts'
export type { ErrorCode } from './core/errors.ts'
export type { Credential } from './core/credential.ts'
