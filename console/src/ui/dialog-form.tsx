/** The form of a dialog: its fields, what went wrong, and the buttons that close it and send it. */
import type { ComponentChildren } from 'preact'
import { Problem } from './states.tsx'
import { useTask } from './use-task.ts'

interface DialogFormProps {
  /** What the button that sends it says. */
  readonly action: string
  /** Whether it may be sent. @default true */
  readonly isReady?: boolean
  /** What the other button says. @default 'Cancel' */
  readonly cancel?: string
  readonly onSubmit: () => Promise<void>
  readonly onClose: () => void
  /** Said while it is sent, where that takes long. */
  readonly busyText?: string
  readonly children: ComponentChildren
}

export function DialogForm(props: DialogFormProps) {
  const { action, isReady = true, cancel = 'Cancel', busyText, onSubmit, onClose, children } = props
  const task = useTask()
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        task.run(onSubmit)
      }}
    >
      {children}
      {busyText !== undefined && (
        <div role="status" class="muted">
          {task.isBusy && busyText}
        </div>
      )}
      <Problem error={task.error} />
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          {cancel}
        </button>
        <button type="submit" class="button primary" disabled={task.isBusy || !isReady}>
          {task.isBusy && <span class="spinner" />}
          {action}
        </button>
      </div>
    </form>
  )
}
