/** One turn of a conversation, with what can be done with it. */
import { useState } from 'preact/hooks'
import { formatMs, formatNumber } from '../../format.ts'
import { Icon } from '../../ui/icons.tsx'
import { copyText } from '../../ui/parts.tsx'
import type { AnswerTurn, Stats, ToolTurn, Turn, UserTurn } from './conversation.ts'
import { Markdown } from './markdown/markdown-view.tsx'
import { tokensPerSecond } from './speed.ts'
import { editTurn, isAnswering, refused, regenerate } from './store.ts'

interface TurnProps {
  readonly turn: Turn
  readonly pane: number
  readonly isLast: boolean
}

export function TurnView({ turn, pane, isLast }: TurnProps) {
  const [isEditing, setEditing] = useState(false)
  const refusal = refused.value?.turnId === turn.id ? refused.value.message : null
  if (turn.role === 'assistant' && isToldElsewhere(turn) && turn.text === '') return null
  if (isEditing && turn.role !== 'tool') return <Editor turn={turn} onClose={() => setEditing(false)} />
  return (
    <article class={`turn ${turn.role}`} aria-label={LABELS[turn.role]}>
      {turn.role === 'user' && <div class="bubble">{turn.text}</div>}
      {turn.role === 'tool' && <ToolResult turn={turn} />}
      {turn.role === 'assistant' && <Answer turn={turn} />}
      {refusal !== null && (
        <div class="note bad" role="alert">
          {refusal}
        </div>
      )}
      <div class="turn-actions">
        {turn.role === 'assistant' && turn.stats !== null && <StatsLine stats={turn.stats} turn={turn} />}
        {turn.role !== 'tool' && !(turn.role === 'assistant' && turn.state === 'streaming') && (
          <span class="row turn-buttons">
            <Action icon="copy" label="Copy" onClick={() => void copyText(turn.text)} />
            {!isAnswering.value && (
              <>
                <Action icon="edit" label="Edit" onClick={() => setEditing(true)} />
                {isLast && <Action icon="again" label="Regenerate" onClick={() => regenerate(pane)} />}
              </>
            )}
          </span>
        )}
      </div>
    </article>
  )
}

const LABELS = { user: 'You', assistant: 'Answer', tool: 'Result of a tool' } as const

interface ActionProps {
  readonly icon: 'copy' | 'edit' | 'again'
  readonly label: string
  readonly onClick: () => void
}

function Action({ icon, label, onClick }: ActionProps) {
  return (
    <button type="button" class="button quiet small" title={label} onClick={onClick}>
      <Icon name={icon} size={16} />
      <span class="hidden-text">{label}</span>
    </button>
  )
}

/** What a guard refused is told beside the part that it is about. */
const isToldElsewhere = ({ refusal }: AnswerTurn) => refusal !== null && refused.value?.turnId != null

function Answer({ turn }: { readonly turn: AnswerTurn }) {
  const { text, reasoning, calls, state, refusal, finishReason } = turn
  const isWaiting = state === 'streaming' && text === '' && reasoning === '' && calls.length === 0
  return (
    <>
      {isWaiting && (
        <div class="row muted">
          <span class="spinner" /> Waiting for the first token…
        </div>
      )}
      {reasoning !== '' && (
        <details class="reasoning" open={text === '' && state === 'streaming'}>
          <summary>Reasoning</summary>
          <div class="bubble-text">{reasoning}</div>
        </details>
      )}
      {text !== '' && <Markdown text={text} />}
      {calls.map((one) => (
        <div class="call" key={one.id}>
          <span class="muted small">Calls</span> <code>{one.name}</code>
          <pre tabIndex={0}>{prettyJson(one.arguments)}</pre>
        </div>
      ))}
      {refusal !== null && !isToldElsewhere(turn) && (
        <div class="note bad" role="alert">
          {refusal.message}
        </div>
      )}
      {state === 'stopped' && <span class="tag warn">Stopped</span>}
      {finishReason === 'length' && <span class="tag warn">Cut off at max tokens</span>}
      {finishReason === 'content_filter' && <span class="tag bad">Cut by the output guard</span>}
    </>
  )
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function StatsLine({ stats, turn }: { readonly stats: Stats; readonly turn: AnswerTurn }) {
  const { firstTokenMs, promptTokens, cachedTokens, completionTokens, isExact } = stats
  const rate = tokensPerSecond(stats)
  const about = isExact || turn.state !== 'streaming' ? '' : '≈ '
  const facts = [
    ...(rate === null ? [] : [[`${about}${rate.toFixed(rate < 10 ? 1 : 0)} tokens/s`, 'Speed']]),
    ...(firstTokenMs === null
      ? []
      : [[`${formatMs(firstTokenMs)} to the first token`, 'Time to the first token']]),
    ...(promptTokens === null ? [] : [[`${formatNumber(promptTokens)} in`, 'Tokens of the prompt']]),
    ...(cachedTokens === null
      ? []
      : [[`${formatNumber(cachedTokens)} cached`, 'Tokens of the prompt that were known already']]),
    [`${formatNumber(completionTokens)} out`, 'Tokens of the answer'],
  ]
  return (
    <ul class="stats small muted" aria-label="Figures of this answer">
      {facts.map(([text, title]) => (
        <li key={title} title={title}>
          {text}
        </li>
      ))}
    </ul>
  )
}

function ToolResult({ turn }: { readonly turn: ToolTurn }) {
  return (
    <div class="call">
      <span class="muted small">Result of</span> <code>{turn.name}</code>
      <pre tabIndex={0}>{turn.text}</pre>
    </div>
  )
}

function Editor({ turn, onClose }: { readonly turn: UserTurn | AnswerTurn; readonly onClose: () => void }) {
  const [text, setText] = useState(turn.text)
  const isQuestion = turn.role === 'user'
  return (
    <form
      class="turn-editor"
      onSubmit={(event) => {
        event.preventDefault()
        onClose()
        editTurn(turn.id, text)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <textarea
        class="input"
        aria-label={isQuestion ? 'Your message' : 'The answer'}
        rows={Math.min(14, text.split('\n').length + 2)}
        value={text}
        ref={(element) => element?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row end">
        <button type="button" class="button small" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button small primary" disabled={isQuestion && text.trim() === ''}>
          {isQuestion ? 'Send again' : 'Save'}
        </button>
      </div>
    </form>
  )
}
