/** The conversation on the screen and what can be done with it. Answers change it as they come, at most once a frame. */
import { computed, signal } from '@preact/signals'
import { call, describeError } from '../../api/client.ts'
import type { Model } from '../../api/types.ts'
import { session } from '../../session.ts'
import { announce, notify } from '../../ui/announce.tsx'
import {
  type AnswerTurn,
  type Conversation,
  createAnswer,
  createConversation,
  newId,
  type Pane,
  toEnded,
  type Turn,
} from './conversation.ts'
import { saveConversation } from './history.ts'
import { buildRequest, type ChatRequest } from './request.ts'
import type { Settings } from './settings.ts'
import { streamAnswer } from './stream-chat.ts'

export const models = signal<readonly Model[] | null>(null)
export const modelsError = signal<unknown>(null)
export const conversation = signal<Conversation>(createConversation('default'))
/** The message that is being written. */
export const draft = signal('')

interface Answering {
  readonly aborter: AbortController
  /** What has come, which is shown with the next frame. */
  latest: AnswerTurn
  /** What it takes the place of; empty where that says nothing. */
  readonly replaced: readonly Turn[]
  /** Whether it was refused beside others, whose end it waits for. */
  isWaiting: boolean
  /** Resolves with its last state. */
  readonly end: Promise<AnswerTurn>
}

/** Answers that are on their way, by the id of their turn. */
const running = signal<ReadonlyMap<string, Answering>>(new Map())
export const isAnswering = computed(() => running.value.size > 0)

/** A page that is closed or crashes loses no more of an answer than came in this time. */
const SAVE_EVERY_MS = 2000
let saving: ReturnType<typeof setInterval> | undefined

/** As long as a hand takes to press what is no longer there. */
const JUST_ENDED_MS = 400
let endedAtMs = -Infinity

/** Whether the last answer had ended only a moment before. @param atMs by the clock of events */
export const hasJustEnded = (atMs: number) => atMs - endedAtMs < JUST_ENDED_MS

isAnswering.subscribe((isOnItsWay) => {
  clearInterval(saving)
  if (isOnItsWay) saving = setInterval(saveLatest, SAVE_EVERY_MS)
  else endedAtMs = performance.now()
})

/** The turn that a guard refused, and its sentence. */
export const refused = signal<{ readonly turnId: string | null; readonly message: string } | null>(null)

/** Whose history the conversation is kept in; of a session that has just ended, still its own. */
let owner = 'open'
export const historyOwner = () => owner

session.subscribe((opened) => {
  if (opened === null) forget()
  else owner = opened.user_id ?? opened.kind
})

/** Nothing of a session is left for the next one; what it has saved is in a history of its own. */
function forget(): void {
  void leave()
  models.value = null
  modelsError.value = null
  conversation.value = createConversation('default')
  draft.value = ''
  refused.value = null
  // The answer that was read aloud last is still on the page.
  announce('')
}

export const canChat = ({ meta: { capabilities } }: Model) =>
  capabilities === null || capabilities.includes('chat') || !capabilities.includes('embeddings')

export async function loadModels(): Promise<void> {
  const asker = session.value
  try {
    const { data } = await call<{ data: readonly Model[] }>('GET v1/models')
    if (session.value === asker) takeModels(data)
  } catch (error) {
    if (session.value === asker) modelsError.value = error
  }
}

function takeModels(all: readonly Model[]): void {
  models.value = all
  modelsError.value = null
  const known = new Set(all.filter(canChat).map(({ id }) => id))
  for (const [index, { model }] of conversation.value.panes.entries())
    if (!known.has(model)) chooseModel(index, pickModel(model, conversation.value.panes[1 - index]?.model))
}

/** One that is ready, else any; not what the other pane has, where there is another. */
function pickModel(present: string, other: string | undefined): string {
  const usable = (models.value ?? []).filter(canChat)
  const free = usable.filter(({ id }) => id !== other)
  const choice = free.length > 0 ? free : usable
  return (choice.find(({ meta }) => meta.state === 'ready') ?? choice[0])?.id ?? present
}

function change(changed: Partial<Conversation>): void {
  conversation.value = { ...conversation.value, ...changed }
}

function changePanes(next: (pane: Pane, index: number) => Pane): void {
  change({ panes: conversation.value.panes.map(next) })
}

export const changeSettings = (changed: Partial<Settings>) =>
  change({ settings: { ...conversation.value.settings, ...changed } })

export const chooseModel = (at: number, model: string) =>
  changePanes((pane, index) => (index === at ? { ...pane, model } : pane))

/** With a second model, which answers the same turns; or with the first alone. */
export function toggleComparison(): void {
  void leave()
  const [first, second] = conversation.value.panes
  if (first === undefined) return
  if (second !== undefined) return goOnAlone(first, second)
  const isAsked = first.turns.some((turn) => turn.role === 'user')
  const model = pickModel(first.model, first.model)
  change({ panes: [first, { model, turns: isAsked ? first.turns : [] }] })
}

/** As a conversation of its own where the second has answers that are no one else's: the history keeps those. */
function goOnAlone(first: Pane, second: Pane): void {
  const known = new Set(first.turns.map(({ id }) => id))
  const isCompared = second.turns.some(({ id }) => !known.has(id))
  change({ panes: [first], ...(isCompared && { id: newId(), createdAtMs: Date.now() }) })
}

/** Resolves when the one before is saved. */
export async function newConversation(): Promise<void> {
  const left = leave()
  const { panes, settings } = conversation.value
  const fresh = createConversation(panes[0]?.model ?? 'default', settings)
  conversation.value = { ...fresh, panes: panes.map(({ model }) => ({ model, turns: [] })) }
  refused.value = null
  await left
}

export function openConversation(opened: Conversation): void {
  // The history may be behind what is on the screen.
  if (opened.id === conversation.value.id) return
  void leave()
  conversation.value = toEnded(opened)
  refused.value = null
  void loadModels()
}

export function send(text: string): void {
  const turn: Turn = { role: 'user', id: newId(), text }
  changePanes((pane) => ({ ...pane, turns: [...pane.turns.filter(isWorthKeeping), turn] }))
  answerAll()
}

const isWorthKeeping = (turn: Turn) =>
  turn.role !== 'assistant' || turn.text !== '' || turn.calls.length > 0 || turn.reasoning !== ''

/** Another answer in the place of the last one, or one where there is none. */
export function regenerate(at: number): void {
  const turns = conversation.value.panes[at]?.turns ?? []
  const last = turns.findLastIndex((turn) => turn.role !== 'assistant')
  void answer(at, turns.slice(last + 1))
}

/** What came after a question that was changed is asked anew; an answer that was changed stays as it was written. */
export function editTurn(id: string, text: string): void {
  let isQuestion = false
  changePanes((pane) => {
    const at = pane.turns.findIndex((turn) => turn.id === id)
    const turn = pane.turns[at]
    if (turn === undefined) return pane
    isQuestion ||= turn.role === 'user'
    const kept = turn.role === 'user' ? pane.turns.slice(0, at + 1) : pane.turns
    return { ...pane, turns: kept.with(at, { ...turn, text }) }
  })
  if (isQuestion) answerAll()
  else void save()
}

export function giveResults(
  at: number,
  results: readonly { callId: string; name: string; text: string }[],
): void {
  const turns: Turn[] = results.map((result) => ({ role: 'tool', id: newId(), ...result }))
  changePanes((pane, index) => (index === at ? { ...pane, turns: [...pane.turns, ...turns] } : pane))
  void answer(at)
}

export function stop(): void {
  for (const { aborter } of running.value.values()) aborter.abort()
}

/** Ends what is on its way and keeps what has come of it: at once, before another conversation takes the screen. */
async function leave(): Promise<void> {
  if (!isAnswering.value) return
  stop()
  for (const answering of running.value.values()) settle(answering, { ...answering.latest, state: 'stopped' })
  running.value = new Map()
  await save()
}

function answerAll(): void {
  conversation.value.panes.forEach((_, index) => void answer(index))
}

/** @param replaced the last turns, which the answer takes the place of */
async function answer(at: number, replaced: readonly Turn[] = []): Promise<void> {
  const { id, panes } = conversation.value
  const pane = panes[at]
  if (pane === undefined) return
  refused.value = null
  const turns = pane.turns.slice(0, pane.turns.length - replaced.length)
  const built = build({ ...pane, turns })
  if (built === null) return
  // What is replaced stays stored until there is something in its place.
  if (replaced.length === 0) void save()
  const answering = begin(built.request, replaced)
  const turn = answering.latest
  running.value = new Map(running.value).set(turn.id, answering)
  changePanes((one, index) => (index === at ? { ...one, turns: [...turns, turn] } : one))
  announce('The answer is on its way.')
  const last = await answering.end
  running.value = new Map([...running.value].filter(([key]) => key !== turn.id))
  if (conversation.value.id !== id) return
  settle(answering, last)
  showEnd(answering, built.turnIds)
  await save()
}

/** Null where a setting cannot be sent, which is told. */
function build(pane: Pane): ReturnType<typeof buildRequest> | null {
  try {
    return buildRequest(conversation.value.settings, pane)
  } catch (error) {
    const message = describeError(error)
    notify(message)
    refused.value = { turnId: null, message }
    return null
  }
}

function begin(request: ChatRequest, replaced: readonly Turn[]): Answering {
  const turn = createAnswer()
  const aborter = new AbortController()
  const show = oncePerFrame(() => put(answering.latest))
  const onChange = (changed: AnswerTurn): void => {
    answering.latest = changed
    show()
  }
  const stream = () => streamAnswer(turn, request, { signal: aborter.signal, onChange })
  const answering: Answering = {
    ...{ aborter, latest: turn, replaced: replaced.filter(isWorthKeeping), isWaiting: false },
    end: afterOthers(stream, () => void (answering.isWaiting = true)),
  }
  return answering
}

/** A tier may allow one request at a time: what it refuses beside the other pane's is asked for again when that has ended. */
async function afterOthers(stream: () => Promise<AnswerTurn>, onWait: () => void): Promise<AnswerTurn> {
  const before = [...running.value.values()]
  const last = await stream()
  if (last.refusal?.code !== 'concurrency_limit_exceeded') return last
  onWait()
  // The server may have taken the one that was sent last; of two that are refused, one waits for the other.
  const others = [...before, ...running.value.values()].filter(({ isWaiting }) => !isWaiting)
  if (others.length === 0) return last
  await Promise.all(others.map(({ end }) => end))
  return await stream()
}

/** Whether it ended before its first word, and what it was to replace did not. */
const isForNothing = ({ latest, replaced }: Answering) =>
  replaced.length > 0 && latest.state !== 'done' && !isWorthKeeping(latest)

function settle(answering: Answering, last: AnswerTurn): void {
  answering.latest = last
  putTurns(last.id, isForNothing(answering) ? answering.replaced : [last])
}

const put = (changed: AnswerTurn) => putTurns(changed.id, [changed])

/** In each pane that has the turn: a comparison begins with the answers of the first. */
function putTurns(id: string, changed: readonly Turn[]): void {
  changePanes((pane) => ({
    ...pane,
    turns: pane.turns.flatMap((turn) => (turn.id === id ? changed : [turn])),
  }))
}

function showEnd(answering: Answering, turnIds: readonly (string | null)[]): void {
  const { state, text, calls, refusal } = answering.latest
  if (refusal !== null) {
    const index = /^messages\[(\d+)\]/.exec(refusal.param ?? refusal.message)?.[1]
    if (index !== undefined)
      refused.value = { turnId: turnIds[Number(index)] ?? null, message: refusal.message }
    // Where the answer before it is back, nothing else on the page says why.
    const tell = isForNothing(answering) ? notify : announce
    tell(`No answer: ${refusal.message}`)
  } else if (state === 'stopped') announce('Stopped.')
  else
    announce(
      `Answer: ${text}${calls.length > 0 ? ` It calls ${calls.map(({ name }) => name).join(', ')}.` : ''}`,
    )
}

/** However often it is asked for within a frame. A hidden page has no frames, and needs none. */
function oncePerFrame(show: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    requestAnimationFrame(() => {
      isWaiting = false
      show()
    })
  }
}

/** As far as the answers have come: a hidden page has no frames that would show them. */
function saveLatest(): void {
  const latest = [...running.value.values()].map((answering) => answering.latest)
  // Before the first word, what is to be replaced stays stored.
  if (!latest.some(isWorthKeeping)) return
  latest.forEach(put)
  void save()
}

async function save(): Promise<void> {
  change({ updatedAtMs: Date.now() })
  // Without storage (a private window, say) the conversation lasts as long as the page.
  await saveConversation(owner, conversation.value).catch(() => {})
}
