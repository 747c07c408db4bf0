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

/** For properties of which some inputs cost far more than others: the same inputs each time in `npm test`. */
export const FIXED_SEED: { readonly seed?: number } = inject('isSoak') ? {} : { seed: 5 }

export function lengthOf({ test, soak }: Lengths): number {
  return inject('isSoak') ? soak : test
}
