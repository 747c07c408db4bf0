/** A modal dialog: the browser's own, which traps the focus, closes on Escape and returns the focus to where it was. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { Announcer } from './announce.tsx'
import { DialogContext, useHold } from './dialog-hold.ts'
import { Icon } from './icons.tsx'
import { Problem } from './states.tsx'
import { useTask } from './use-task.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [isHeld, setHeld] = useState(false)
  const facts = useMemo(() => ({ title, setHeld }), [title])
  const close = () => {
    if (!isHeld) onClose()
  }
  // A browser closes a dialog at a second Escape whatever the page says.
  const onClosed = () => {
    if (isHeld) element.current?.showModal()
    else if (element.current !== null) onClose()
  }
  useEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={onClosed}
    >
      <Announcer />
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet small" disabled={isHeld} onClick={close}>
          <Icon name="close" />
          <span class="hidden-text">Close</span>
        </button>
      </div>
      <DialogContext.Provider value={facts}>
        <div class="dialog-body">{children}</div>
      </DialogContext.Provider>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks before what cannot be undone. */
export function Confirm({ title, ...given }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={given.onClose}>
      <Question {...given} />
    </Dialog>
  )
}

function Question({ action, onConfirm, onClose, children }: Omit<ConfirmProps, 'title'>) {
  const task = useTask()
  useHold(task.isBusy)
  return (
    <>
      <div>{children}</div>
      <Problem error={task.error} />
      <div class="row end">
        <button type="button" class="button" disabled={task.isBusy} onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button danger primary"
          disabled={task.isBusy}
          onClick={() => task.run(async () => onConfirm().then(onClose))}
        >
          {action}
        </button>
      </div>
    </>
  )
}
