/** What a dialog and the work inside it know of each other. */
import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'

interface DialogFacts {
  readonly title: string
  readonly setHeld: (isHeld: boolean) => void
}

export const DialogContext = createContext<DialogFacts>({ title: '', setHeld: () => {} })

/** While it is held, the dialog around this cannot be closed. */
export function useHold(isHeld: boolean): void {
  const { setHeld } = useContext(DialogContext)
  useLayoutEffect(() => {
    setHeld(isHeld)
    return () => setHeld(false)
  }, [isHeld, setHeld])
}
