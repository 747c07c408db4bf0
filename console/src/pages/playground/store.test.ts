/** What becomes of a conversation when it or the session is left; what is seen of it is tested in a browser. */
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '../../api/types.ts'
import { enter, session, signOut } from '../../session.ts'
import type { Conversation } from './conversation.ts'
import { listConversations } from './history.ts'
import {
  conversation,
  draft,
  isAnswering,
  loadModels,
  models,
  newConversation,
  openConversation,
  send,
  stop,
  toggleComparison,
} from './store.ts'

const sessionOf = (userId: string): Session => ({
  ...{ kind: 'account', user_id: userId, email: `${userId}@example.org`, tier: 'pro', role: 'user' },
  ...{ csrf_token: null, expires_at: null },
})

/** As much of IndexedDB as the history asks for; what is asked for is there a moment later. */
function createDatabases() {
  const databases = new Map<string, Map<string, unknown>>()
  const onceThere = (awaited: string) => (type: string, listener: () => void) => {
    if (type === awaited) queueMicrotask(listener)
  }
  const open = (name: string) => {
    const rows = databases.get(name) ?? new Map<string, unknown>()
    databases.set(name, rows)
    const store = {
      put: (row: Conversation) => ({ result: rows.set(row.id, row) }),
      getAll: () => ({ result: [...rows.values()] }),
    }
    const transaction = { objectStore: () => store, addEventListener: onceThere('complete') }
    return {
      result: { transaction: () => transaction, close: () => {} },
      addEventListener: onceThere('success'),
    }
  }
  return { open }
}

const MODELS = ['first', 'second'].map((id) => ({ id, meta: { state: 'ready', capabilities: ['chat'] } }))

/** An answer that has begun and goes on until it is stopped. */
function beginAnswer(signal: AbortSignal): Response {
  const chunk = { choices: [{ delta: { content: 'Half' }, finish_reason: null }] }
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`))
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })
  return new Response(body)
}

async function answerRequest(path: string, init: { signal: AbortSignal }): Promise<Response> {
  return path === 'v1/chat/completions' ? beginAnswer(init.signal) : Response.json({ data: MODELS })
}

beforeEach(() => {
  vi.stubGlobal('fetch', answerRequest)
  vi.stubGlobal('requestAnimationFrame', queueMicrotask)
  vi.stubGlobal('indexedDB', createDatabases())
  enter(sessionOf('ada'))
})

afterEach(async () => {
  await signOut()
  // What that has stopped comes to its end.
  await setImmediate()
  vi.unstubAllGlobals()
})

const turnsOf = ({ panes }: Pick<Conversation, 'panes'>) =>
  panes.map(({ turns }) =>
    turns.map((turn) => (turn.role === 'assistant' ? `${turn.text} (${turn.state})` : turn.text)),
  )

const storedOf = async (owner: string) => (await listConversations(owner)).map(turnsOf)

/** Asks, and waits until a part of the answer is there. */
async function ask(text: string): Promise<void> {
  send(text)
  await expect.poll(() => turnsOf(conversation.value)[0]).toEqual([text, 'Half (streaming)'])
}

it('forgets all with the session, and keeps what has come of an answer for the one who asked', async () => {
  await loadModels()
  await ask('Mine')
  draft.value = 'Not sent'
  await signOut()
  expect([turnsOf(conversation.value), models.value, draft.value]).toEqual([[[]], null, ''])
  expect(isAnswering.value).toBe(false)
  enter(sessionOf('bob'))
  await ask('Theirs')
  stop()
  await expect.poll(() => storedOf('bob')).toEqual([[['Theirs', 'Half (stopped)']]])
  expect(await storedOf('ada')).toEqual([[['Mine', 'Half (stopped)']]])
  expect(await storedOf('open')).toEqual([])
})

it('takes no list of models that another session asked for', async () => {
  const loading = loadModels()
  session.value = null
  await loading
  expect(models.value).toBeNull()
})

it('keeps what has come of an answer when another conversation is begun or opened', async () => {
  await ask('One')
  const first = conversation.value
  void newConversation()
  expect([turnsOf(conversation.value), isAnswering.value]).toEqual([[[]], false])
  await expect.poll(() => storedOf('ada')).toEqual([[['One', 'Half (stopped)']]])

  await ask('Two')
  openConversation(first)
  await expect.poll(() => storedOf('ada')).toEqual([[['Two', 'Half (stopped)']], [['One', 'Half (stopped)']]])
})

it('goes on with the conversation that is open already', async () => {
  await ask('One')
  const [stored] = await listConversations('ada')
  if (stored !== undefined) openConversation(stored)
  expect(turnsOf(conversation.value)).toEqual([['One', 'Half (streaming)']])
})

it('compares with an answer that has ended, also where it was on its way', async () => {
  await loadModels()
  await ask('One')
  toggleComparison()
  const both = [
    ['One', 'Half (stopped)'],
    ['One', 'Half (stopped)'],
  ]
  expect([turnsOf(conversation.value), isAnswering.value]).toEqual([both, false])
  await expect.poll(() => storedOf('ada')).toEqual([both])
})
