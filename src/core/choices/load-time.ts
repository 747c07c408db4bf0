/** When a model of this server is loaded. */

/** `start`: as the server does, or as it is registered; `request`: by the first request for it. */
export const LOAD_TIMES = ['start', 'request'] as const

export type LoadTime = (typeof LOAD_TIMES)[number]
