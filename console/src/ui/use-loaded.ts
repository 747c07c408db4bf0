/** What a page shows of the server: loaded when the page opens and whenever its key changes, kept while it is loaded again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from '../api/client.ts'

export interface Loaded<Value> {
  /** Null until it is there for the first time. */
  readonly value: Value | null
  readonly error: unknown
  readonly isLoading: boolean
  /** Whether the value is of another key than that which is asked for now. */
  readonly isOutdated: boolean
  readonly reload: () => void
}

interface LoadState<Value> extends Pick<Loaded<Value>, 'value' | 'error' | 'isLoading'> {
  /** What the value was loaded for. */
  readonly loadedKey: string
}

/** @param key what the value depends on; another one loads again */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>, key: string): Loaded<Value> {
  const [{ loadedKey, ...state }, setState] = useState<LoadState<Value>>({
    value: null,
    loadedKey: key,
    error: null,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const aborter = new AbortController()
    setState((before) => ({ ...before, isLoading: true }))
    const read = async (): Promise<void> => {
      try {
        const value = await latest.current(aborter.signal)
        if (!aborter.signal.aborted) setState({ value, loadedKey: key, error: null, isLoading: false })
      } catch (error) {
        if (!isAbort(error) && !aborter.signal.aborted)
          setState((before) => ({ ...before, error, isLoading: false }))
      }
    }
    void read()
    return () => aborter.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  return { ...state, isOutdated: state.value !== null && loadedKey !== key, reload }
}
