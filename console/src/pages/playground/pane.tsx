/** One model and its answers. */
import { useState } from 'preact/hooks'
import { Icon } from '../../ui/icons.tsx'
import { type Pane, openCalls, type ToolCall } from './conversation.ts'
import { canChat, chooseModel, giveResults, models } from './store.ts'
import { TurnView } from './turn.tsx'

interface PaneProps {
  readonly pane: Pane
  readonly index: number
  readonly isCompared: boolean
}

export function PaneView({ pane, index, isCompared }: PaneProps) {
  const calls = openCalls(pane)
  const last = pane.turns.at(-1)
  return (
    <section
      class="pane"
      aria-label={
        isCompared ? `${index === 0 ? 'First' : 'Second'} answers, of ${pane.model}` : 'Conversation'
      }
    >
      {isCompared && (
        <div class="pane-head">
          <ModelChoice pane={pane} index={index} label={index === 0 ? 'First model' : 'Second model'} />
        </div>
      )}
      <div class="turns">
        {pane.turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} pane={index} isLast={turn === last} />
        ))}
        {calls.length > 0 && <ToolResults key={last?.id} calls={calls} pane={index} />}
      </div>
    </section>
  )
}

export function ModelChoice({
  pane,
  index,
  label,
}: {
  readonly pane: Pane
  readonly index: number
  readonly label: string
}) {
  const usable = (models.value ?? []).filter(canChat)
  return (
    <select
      class="input model-choice"
      aria-label={label}
      value={pane.model}
      onChange={(event) => chooseModel(index, event.currentTarget.value)}
    >
      {usable.length === 0 && <option value={pane.model}>No model</option>}
      {usable.map(({ id, meta }) => (
        <option key={id} value={id}>
          {id}
          {meta.state === 'ready' ? '' : ` (${meta.state})`}
        </option>
      ))}
    </select>
  )
}

/** What the called functions gave, written by hand: the model goes on with it. */
function ToolResults({ calls, pane }: { readonly calls: readonly ToolCall[]; readonly pane: number }) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  return (
    <form
      class="tool-results"
      onSubmit={(event) => {
        event.preventDefault()
        giveResults(
          pane,
          calls.map(({ id, name }) => ({ callId: id, name, text: texts[id] ?? '' })),
        )
      }}
    >
      {calls.map(({ id, name }) => (
        <div class="field" key={id}>
          <label for={`result-${id}`}>
            Result of <code>{name}</code>
          </label>
          <textarea
            id={`result-${id}`}
            class="input mono"
            rows={2}
            required
            placeholder='{"temperature": 21}'
            value={texts[id] ?? ''}
            onInput={(event) => setTexts({ ...texts, [id]: event.currentTarget.value })}
          />
        </div>
      ))}
      <div>
        <button type="submit" class="button small primary">
          <Icon name="send" size={16} /> Give the result
        </button>
      </div>
    </form>
  )
}
