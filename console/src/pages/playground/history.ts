/** Conversations of this browser, in a database of the account's own: whoever signs in next on the same browser has another. */
import type { Conversation } from './conversation.ts'

const STORE = 'conversations'

function open(owner: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(`sluice-playground-${owner}`, 1)
    opening.addEventListener('upgradeneeded', () =>
      opening.result.createObjectStore(STORE, { keyPath: 'id' }),
    )
    opening.addEventListener('success', () => resolve(opening.result))
    opening.addEventListener('error', () => reject(opening.error ?? new Error('no database')))
  })
}

async function inStore<Value>(
  owner: string,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value> {
  const database = await open(owner)
  try {
    return await new Promise<Value>((resolve, reject) => {
      const transaction = database.transaction(STORE, mode)
      const result = work(transaction.objectStore(STORE))
      transaction.addEventListener('complete', () => resolve(result.result))
      transaction.addEventListener('error', () => reject(transaction.error ?? new Error('not stored')))
    })
  } finally {
    database.close()
  }
}

/** The latest first. */
export async function listConversations(owner: string): Promise<readonly Conversation[]> {
  const all = await inStore<Conversation[]>(owner, 'readonly', (store) => store.getAll())
  return all.sort((one, other) => other.updatedAtMs - one.updatedAtMs)
}

export const saveConversation = (owner: string, conversation: Conversation) =>
  inStore(owner, 'readwrite', (store) => store.put(conversation))

export const deleteConversation = (owner: string, id: string) =>
  inStore(owner, 'readwrite', (store) => store.delete(id))

export const deleteAllConversations = (owner: string) => inStore(owner, 'readwrite', (store) => store.clear())
