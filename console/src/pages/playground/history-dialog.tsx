/** Earlier conversations of this browser: open, export, delete. */
import { useState } from 'preact/hooks'
import { formatAgo, plural } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { download } from '../../ui/parts.tsx'
import { Empty, Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'
import { type Conversation, titleOf } from './conversation.ts'
import { deleteAllConversations, deleteConversation, listConversations } from './history.ts'
import { conversation, historyOwner, newConversation, openConversation } from './store.ts'

const exportAs = (name: string, conversations: readonly Conversation[]) =>
  download(name, JSON.stringify({ conversations }, null, 2), 'application/json')

export function HistoryDialog({ onClose }: { readonly onClose: () => void }) {
  const [isDeletingAll, setDeletingAll] = useState(false)
  const loaded = useLoaded(() => listConversations(historyOwner()), '')
  const task = useTask()
  const remove = ({ id }: Conversation) =>
    task.run(async () => {
      if (conversation.value.id === id) await newConversation()
      await deleteConversation(historyOwner(), id)
      notify('The conversation is deleted.')
      loaded.reload()
    })
  return (
    <Dialog title="History" onClose={onClose}>
      <p class="small muted">Conversations are kept in this browser only, never on the server.</p>
      <Problem error={task.error} />
      <Ready loaded={loaded} what="the history">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing here yet">Conversations appear here when they have an answer.</Empty>
          ) : (
            <>
              <ul class="plain-list">
                {all.map((one) => (
                  <Entry
                    key={one.id}
                    one={one}
                    onRemove={() => remove(one)}
                    onOpen={() => {
                      openConversation(one)
                      onClose()
                    }}
                  />
                ))}
              </ul>
              <div class="row end">
                <button
                  type="button"
                  class="button"
                  onClick={() => exportAs('sluice-conversations.json', all)}
                >
                  <Icon name="download" /> Export all
                </button>
                <button type="button" class="button danger" onClick={() => setDeletingAll(true)}>
                  <Icon name="trash" /> Delete all
                </button>
              </div>
            </>
          )
        }
      </Ready>
      {isDeletingAll && (
        <Confirm
          title="Delete all conversations?"
          action="Delete all"
          onClose={() => setDeletingAll(false)}
          onConfirm={async () => {
            await newConversation()
            await deleteAllConversations(historyOwner())
            loaded.reload()
          }}
        >
          They are gone from this browser, and are nowhere else.
        </Confirm>
      )}
    </Dialog>
  )
}

interface EntryProps {
  readonly one: Conversation
  readonly onOpen: () => void
  readonly onRemove: () => void
}

function Entry({ one, onOpen, onRemove }: EntryProps) {
  const title = titleOf(one)
  const turns = one.panes[0]?.turns.length ?? 0
  return (
    <li>
      <button type="button" class="list-open" onClick={onOpen}>
        <span>{title}</span>
        <span class="small muted">
          {formatAgo(one.updatedAtMs / 1000)}, {plural(turns, 'turn')}
        </span>
      </button>
      <button
        type="button"
        class="button quiet small"
        onClick={() => exportAs('sluice-conversation.json', [one])}
      >
        <Icon name="download" />
        <span class="hidden-text">Export “{title}”</span>
      </button>
      <button type="button" class="button quiet small" onClick={onRemove}>
        <Icon name="trash" />
        <span class="hidden-text">Delete “{title}”</span>
      </button>
    </li>
  )
}
