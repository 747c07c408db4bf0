/** How long the tests that repeat something do so: briefly in `npm test`, at length in `npm run test:soak`. */
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    readonly isSoak: boolean
  }
}

export interface Lengths {
  readonly test: number
  readonly soak: number
}

export function lengthOf({ test, soak }: Lengths): number {
  return inject('isSoak') ? soak : test
}
