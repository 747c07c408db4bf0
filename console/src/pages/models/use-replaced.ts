import { useState } from 'preact/hooks'
import { findReplaced, type ServedModel } from './served-models.ts'

interface Replaced {
  /** The model in whose place one with this id comes; null where it is one more. */
  readonly present: ServedModel | null
  /** Does the work for which this was asked: in the midst of it, the new model is served itself. */
  readonly during: (work: () => Promise<void>) => Promise<void>
}

export function useReplaced(id: string, served: readonly ServedModel[]): Replaced {
  const [before, setBefore] = useState<readonly ServedModel[] | null>(null)
  const during = async (work: () => Promise<void>): Promise<void> => {
    setBefore(served)
    try {
      await work()
    } finally {
      setBefore(null)
    }
  }
  return { present: findReplaced(id, before ?? served), during }
}
