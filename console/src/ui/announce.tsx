/** What a screen reader is told without a move of the focus, and the short message that everyone sees of it. */
import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Another object for each message. */
const spoken = signal({ text: '' })
const shown = signal<string | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** Read aloud, not shown. */
export function announce(text: string): void {
  // The same text twice is a change only where something changes.
  spoken.value = { text: spoken.value.text === text ? `${text}\u00a0` : text }
}

/** Read aloud, and shown for a while. */
export function notify(text: string): void {
  announce(text)
  shown.value = text
  clearTimeout(timer)
  timer = setTimeout(() => (shown.value = null), 3500)
}

/** One for the page, and one in each dialog: while that is open, nothing outside it is heard, or seen above it. */
export function Announcer() {
  // What was said before this was there was heard elsewhere.
  const before = useRef(spoken.value)
  return (
    <>
      <div class="hidden-text" aria-live="polite" role="status">
        {spoken.value !== before.current && spoken.value.text}
      </div>
      {shown.value !== null && (
        <div class="toast" aria-hidden="true">
          {shown.value}
        </div>
      )}
    </>
  )
}
