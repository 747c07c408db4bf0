/** What a screen reader is told without a move of the focus, and the short message that everyone sees of it. */
import { signal } from '@preact/signals'

const spoken = signal('')
const shown = signal<string | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** Read aloud, not shown. */
export function announce(text: string): void {
  // The same text twice is a change only where something changes.
  spoken.value = spoken.value === text ? `${text}\u00a0` : text
}

/** Read aloud, and shown for a while. */
export function notify(text: string): void {
  announce(text)
  shown.value = text
  clearTimeout(timer)
  timer = setTimeout(() => (shown.value = null), 3500)
}

export function Announcer() {
  return (
    <>
      <div class="hidden-text" aria-live="polite" role="status">
        {spoken.value}
      </div>
      {shown.value !== null && (
        <div class="toast" aria-hidden="true">
          {shown.value}
        </div>
      )}
    </>
  )
}
