/** Where a message is written. Enter sends; Shift and Enter begin a line. */
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../../ui/icons.tsx'
import { draft, isAnswering, refused, send, stop } from './store.ts'

export function Composer() {
  const text = draft.value
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const { current } = area
    if (current === null) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight + 2}px`
  }, [text])
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
          <button type="button" class="button primary round" onClick={stop}>
            <Icon name="stop" />
            <span class="hidden-text">Stop</span>
          </button>
        ) : (
          <button type="submit" class="button primary round" disabled={text.trim() === ''}>
            <Icon name="send" />
            <span class="hidden-text">Send</span>
          </button>
        )}
      </div>
    </form>
  )
}
