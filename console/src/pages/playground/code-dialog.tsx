/** "View as code": the request that the playground would send next, for a terminal or a program. */
import { useState } from 'preact/hooks'
import { call, describeError } from '../../api/client.ts'
import { session } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { useHold } from '../../ui/dialog-hold.ts'
import { Choices, Code } from '../../ui/parts.tsx'
import { Problem } from '../../ui/states.tsx'
import { useTask } from '../../ui/use-task.ts'
import type { Pane } from './conversation.ts'
import { buildRequest, type ChatRequest } from './request.ts'
import type { Settings } from './settings.ts'
import { createSnippet, type Language, LANGUAGES } from './snippets.ts'

interface CodeDialogProps {
  readonly settings: Settings
  readonly pane: Pane
  /** Not sent yet. */
  readonly draft: string
  readonly onClose: () => void
}

/** Any: a server without keys asks for none, but OpenAI's libraries do. */
const NO_KEY = 'no-key'

const KEY_NAME = 'from the playground'

/** Up to the last question: the code asks it again. */
function toRequest({ settings, pane, draft }: Omit<CodeDialogProps, 'onClose'>): ChatRequest | string {
  const last = pane.turns.findLastIndex((turn) => turn.role !== 'assistant')
  const text = draft.trim() === '' ? 'Hello!' : draft
  const isAsked = draft.trim() === '' && last >= 0
  const turns = isAsked
    ? pane.turns.slice(0, last + 1)
    : [...pane.turns, { role: 'user' as const, id: '', text }]
  try {
    return buildRequest(settings, { ...pane, turns }).request
  } catch (error) {
    return describeError(error)
  }
}

export function CodeDialog({ onClose, ...given }: CodeDialogProps) {
  const [language, setLanguage] = useState<Language>('curl')
  const [apiKey, setApiKey] = useState<string | null>(session.value?.kind === 'open' ? NO_KEY : null)
  const request = toRequest(given)
  const baseUrl = new URL('v1', document.baseURI).href
  return (
    <Dialog title="View as code" onClose={onClose} isWide>
      <Choices
        label="Language"
        value={language}
        choices={LANGUAGES.map((one) => [one, one] as const)}
        onValue={setLanguage}
      />
      {typeof request === 'string' ? (
        <Problem error={request} />
      ) : (
        <Code text={createSnippet(language, { request, baseUrl, apiKey })} language={language} />
      )}
      {apiKey === null && <MakeKey onKey={setApiKey} />}
      {apiKey !== null && apiKey !== NO_KEY && (
        <p class="small muted">
          The code holds a new key, “{KEY_NAME}”. It is shown here only; it can be revoked on the page Keys.
        </p>
      )}
    </Dialog>
  )
}

function MakeKey({ onKey }: { readonly onKey: (key: string) => void }) {
  const task = useTask()
  // The key is shown once.
  useHold(task.isBusy)
  return (
    <>
      <div class="note">
        <span>
          The code reads the key from <code>SLUICE_API_KEY</code>. With a key of its own it runs as pasted.
        </span>
        <button
          type="button"
          class="button small"
          disabled={task.isBusy}
          onClick={() =>
            task.run(async () => {
              const { key } = await call<{ key: string }>('POST v1/keys', { body: { name: KEY_NAME } })
              onKey(key)
            })
          }
        >
          Make a key for this code
        </button>
      </div>
      <Problem error={task.error} />
    </>
  )
}
