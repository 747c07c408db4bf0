/** What a form or a button does on the server: busy meanwhile, with an error to show when it failed. */
import { useState } from 'preact/hooks'
import { isAbort } from '../api/client.ts'

export interface Task {
  readonly isBusy: boolean
  readonly error: unknown
  readonly run: (work: () => Promise<unknown>) => void
}

export function useTask(): Task {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = (work: () => Promise<unknown>): void => {
    setBusy(true)
    setError(null)
    work()
      .catch((thrown: unknown) => {
        if (!isAbort(thrown)) setError(thrown)
      })
      .finally(() => setBusy(false))
  }
  return { isBusy, error, run }
}
