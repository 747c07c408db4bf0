/** The form of a dialog: its fields, what went wrong, and the buttons that close it and send it. */
import type { ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../api/client.ts'
import { notify } from './announce.tsx'
import { DialogContext, useHold } from './dialog-hold.ts'
import { Problem } from './states.tsx'
import { useTask } from './use-task.ts'

/**
 * What becomes of the work when one wants to close its dialog: it cannot be closed before the end, or the work goes on and an
 * error is said to the page, or nobody asks for its answer any more.
 */
type Closing = 'waits' | 'goes on' | 'drops it'

interface DialogFormProps {
  /** What the button that sends it says. */
  readonly action: string
  /** Whether it may be sent. @default true */
  readonly isReady?: boolean
  /** What the other button says. @default 'Cancel' */
  readonly cancel?: string
  /** @default 'waits' */
  readonly closing?: Closing
  /** @param isOpen whether the dialog is still there: only then may the work close it or show more in it */
  readonly onSubmit: (isOpen: () => boolean) => Promise<void>
  readonly onClose: () => void
  /** Said while it is sent, where that takes long. */
  readonly busyText?: string
  readonly children: ComponentChildren
}

export function DialogForm(props: DialogFormProps) {
  const { action, isReady = true, cancel = 'Cancel', closing = 'waits', busyText, onSubmit, onClose } = props
  const task = useTask()
  // Of what was sent: the fields may say something else by now.
  const [sent, setSent] = useState<Closing>(closing)
  const { title } = useContext(DialogContext)
  const isOpen = useIsOpen()
  useHold(task.isBusy && sent === 'waits')
  const submit = async (): Promise<void> => {
    try {
      await onSubmit(isOpen)
    } catch (error) {
      if (isOpen() || closing === 'drops it') throw error
      notify(`${title}: ${describeError(error)}`)
    }
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        setSent(closing)
        task.run(submit)
      }}
    >
      {props.children}
      {busyText !== undefined && (
        <div role="status" class="muted">
          {task.isBusy && busyText}
        </div>
      )}
      <Problem error={task.error} />
      <div class="row end">
        <button type="button" class="button" disabled={task.isBusy && sent === 'waits'} onClick={onClose}>
          {task.isBusy && sent === 'goes on' ? 'Go on in the background' : cancel}
        </button>
        <button type="submit" class="button primary" disabled={task.isBusy || !isReady}>
          {task.isBusy && <span class="spinner" />}
          {action}
        </button>
      </div>
    </form>
  )
}

function useIsOpen(): () => boolean {
  const isOpen = useRef(true)
  useLayoutEffect(
    () => () => {
      isOpen.current = false
    },
    [],
  )
  return () => isOpen.current
}
