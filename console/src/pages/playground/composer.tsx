/** Where a message is written. Enter sends; Shift and Enter begin a line. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../ui/icons.tsx'
import { draft, hasJustEnded, isAnswering, refused, send, stop } from './store.ts'

export function Composer() {
  const text = draft.value
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const { current } = area
    if (current === null) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight + 2}px`
  }, [text])
  const button = useRef<HTMLButtonElement>(null)
  const isButtonFocused = button.current !== null && button.current === document.activeElement
  // Each of the two buttons is an element of its own, and the one that comes takes the focus from the one that goes.
  useLayoutEffect(() => {
    if (isButtonFocused) button.current?.focus()
  }, [isAnswering.value])
  const submit = (): void => {
    if (text.trim() === '' || isAnswering.value) return
    draft.value = ''
    send(text)
  }
  const general = refused.value?.turnId === null ? refused.value.message : null
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {general !== null && (
        <div class="note bad" role="alert">
          {general}
        </div>
      )}
      <div class="composer-box">
        <textarea
          ref={area}
          rows={1}
          aria-label="Message"
          placeholder="Write a message"
          value={text}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
        {isAnswering.value ? (
          <button
            key="stop"
            ref={button}
            type="button"
            class="button primary round"
            onClick={(event) => {
              // The second of a double click was meant for what was there before it.
              if (event.detail <= 1) stop()
            }}
          >
            <Icon name="stop" />
            <span class="hidden-text">Stop</span>
          </button>
        ) : (
          <button
            key="send"
            ref={button}
            type="submit"
            class="button primary round"
            disabled={text.trim() === ''}
            onClick={(event) => {
              // A pointer, unlike a key, may have been on its way to Stop.
              if (event.detail > 0 && hasJustEnded(event.timeStamp)) event.preventDefault()
            }}
          >
            <Icon name="send" />
            <span class="hidden-text">Send</span>
          </button>
        )}
      </div>
    </form>
  )
}
