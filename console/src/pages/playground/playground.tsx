/** The playground: a conversation with one model, or with two side by side. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { poll } from '../../api/poll.ts'
import { session } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Problem } from '../../ui/states.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { Composer } from './composer.tsx'
import type { Conversation } from './conversation.ts'
import { HistoryDialog } from './history-dialog.tsx'
import { ModelChoice, PaneView } from './pane.tsx'
import { SettingsPanel } from './settings-panel.tsx'
import {
  canChat,
  changeSettings,
  conversation,
  draft,
  loadModels,
  models,
  modelsError,
  newConversation,
  send,
  toggleComparison,
} from './store.ts'

type Open = 'settings' | 'code' | 'history' | null

const WIDE = matchMedia('(min-width: 1180px)')

export function Playground() {
  const [open, setOpen] = useState<Open>(null)
  const [isWide, setWide] = useState(WIDE.matches)
  const [hasPanel, setPanel] = useState(WIDE.matches)
  const current = conversation.value
  const close = () => setOpen(null)
  useEffect(() => {
    document.title = 'Playground · Sluice'
    const listen = () => setWide(WIDE.matches)
    WIDE.addEventListener('change', listen)
    return () => WIDE.removeEventListener('change', listen)
  }, [])
  useModels()
  const toggleSettings = () => (isWide ? setPanel(!hasPanel) : setOpen('settings'))
  return (
    <div class={isWide && hasPanel ? 'playground with-panel' : 'playground'}>
      <div class="talk">
        <Toolbar
          current={current}
          isPanelOpen={isWide && hasPanel}
          onOpen={setOpen}
          onSettings={toggleSettings}
        />
        <Log current={current}>
          <Start current={current} />
        </Log>
        <Composer />
      </div>
      {isWide && hasPanel && (
        <aside class="panel" aria-label="Settings">
          <SettingsPanel settings={current.settings} onChange={changeSettings} />
        </aside>
      )}
      {open === 'settings' && (
        <Dialog title="Settings" onClose={close}>
          <SettingsPanel settings={current.settings} onChange={changeSettings} />
        </Dialog>
      )}
      {open === 'history' && <HistoryDialog onClose={close} />}
      {open === 'code' && current.panes[0] !== undefined && (
        <CodeDialog settings={current.settings} pane={current.panes[0]} draft={draft.value} onClose={close} />
      )}
    </div>
  )
}

/** Loaded whenever the page opens, and again while one is on its way. */
function useModels(): void {
  const isSettled =
    models.value?.every(({ meta }) => ['ready', 'unloaded', 'failed'].includes(meta.state)) === true
  useEffect(() => void loadModels(), [session.value])
  useEffect(() => {
    if (isSettled) return
    return poll(() => void loadModels())
  }, [isSettled])
}

interface ToolbarProps {
  readonly current: Conversation
  readonly isPanelOpen: boolean
  readonly onOpen: (open: Open) => void
  readonly onSettings: () => void
}

function Toolbar({ current, isPanelOpen, onOpen, onSettings }: ToolbarProps) {
  const isCompared = current.panes.length > 1
  const [first] = current.panes
  return (
    <div class="toolbar">
      <h1 class="hidden-text" tabIndex={-1}>
        Playground
      </h1>
      {!isCompared && first !== undefined && <ModelChoice pane={first} index={0} label="Model" />}
      <div class="toolbar-buttons" role="toolbar" aria-label="Conversation">
        <ToolButton icon="plus" label="New" onClick={() => void newConversation()} />
        <ToolButton icon="split" label="Compare" isPressed={isCompared} onClick={toggleComparison} />
        <ToolButton icon="history" label="History" onClick={() => onOpen('history')} />
        <ToolButton icon="code" label="Code" onClick={() => onOpen('code')} />
        <ToolButton icon="settings" label="Settings" isPressed={isPanelOpen} onClick={onSettings} />
      </div>
    </div>
  )
}

interface ToolButtonProps {
  readonly icon: IconName
  readonly label: string
  readonly isPressed?: boolean
  readonly onClick: () => void
}

function ToolButton({ icon, label, isPressed, onClick }: ToolButtonProps) {
  return (
    <button
      type="button"
      class="button quiet small"
      {...(isPressed !== undefined && { 'aria-pressed': isPressed })}
      onClick={onClick}
    >
      <Icon name={icon} />
      <span class="tool-label">{label}</span>
    </button>
  )
}

/** Stays at its end while the answer grows, unless the reader scrolled away from it. */
function Log({
  current,
  children,
}: {
  readonly current: Conversation
  readonly children: ComponentChildren
}) {
  const place = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const { current: element } = place
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [current])
  const isEmpty = current.panes.every(({ turns }) => turns.length === 0)
  return (
    <div
      class="log"
      ref={place}
      tabIndex={0}
      role="region"
      aria-label="Messages"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80
      }}
    >
      <div class={current.panes.length > 1 ? 'panes compared' : 'panes'}>
        {(!isEmpty || current.panes.length > 1) &&
          current.panes.map((pane, index) => (
            <PaneView key={index} pane={pane} index={index} isCompared={current.panes.length > 1} />
          ))}
      </div>
      {isEmpty && children}
    </div>
  )
}

const EXAMPLES = [
  'Explain in three sentences what a key-value cache is.',
  'Write a haiku about water.',
  'List five uses of a paper clip as a table.',
]

/** Before the first message: whether there is a model to talk with. */
function Start({ current }: { readonly current: Conversation }) {
  const all = models.value
  const model = all?.find(({ id }) => id === current.panes[0]?.model)
  if (all === null) return <Problem error={modelsError.value} onRetry={() => void loadModels()} />
  if (!all.some(canChat)) {
    return (
      <div class="start">
        <h2>No model to talk with</h2>
        <p class="muted">
          {session.value?.role === 'admin' ? (
            <>
              Load one on the page <a href="#/models">Models</a>.
            </>
          ) : (
            'The admin of this server has loaded none yet.'
          )}
        </p>
      </div>
    )
  }
  return (
    <div class="start">
      <h2>Ask {model?.id ?? 'the model'} something</h2>
      <ModelState state={model?.meta.state} progress={model?.meta.load_progress} note={model?.meta.note} />
      <div class="examples">
        {EXAMPLES.map((text) => (
          <button type="button" class="button" key={text} onClick={() => send(text)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  )
}

interface ModelStateProps {
  readonly state: string | undefined
  readonly progress: number | undefined
  readonly note: string | undefined
}

function ModelState({ state, progress = 0, note }: ModelStateProps) {
  if (state === 'loading') {
    return (
      <p class="muted" role="status">
        It is loading ({Math.round(progress * 100)} %). You may ask already: the answer comes when it is
        there.
      </p>
    )
  }
  if (state === 'unloaded') return <p class="muted">It is loaded for the first message.</p>
  if (state === 'failed') return <p class="note bad">This model could not be loaded.</p>
  return <p class="muted">{note ?? 'Nothing you write here is kept on the server.'}</p>
}
