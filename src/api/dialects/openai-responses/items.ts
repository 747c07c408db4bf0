/** Items of an output as `/v1/responses` shows them, whole and in the events of a stream. */
import type { AnswerOf } from '../frames.ts'
import { toTokenLogprob } from '../token-logprobs.ts'
import type { outputItem } from './answer-schema.ts'
import type { responseEvent } from './event-schema.ts'
import type { Item, ItemChange } from './output.ts'

type ResponseEvent = AnswerOf<typeof responseEvent>
type WithoutNumber<Event> = Event extends ResponseEvent ? Omit<Event, 'sequence_number'> : never

/** An event that has no number yet. */
export type NewEvent = WithoutNumber<ResponseEvent>

type PlacedItem = Pick<ItemChange, 'item' | 'index'>
type MessageItem = Extract<Item, { kind: 'message' }>

export function toOutputItem(item: Item): AnswerOf<typeof outputItem> {
  const { id, status, text } = item
  switch (item.kind) {
    case 'message':
      return { id, type: 'message', status, role: 'assistant', content: [toTextPart(item)] }
    case 'reasoning':
      return {
        id,
        type: 'reasoning',
        status,
        summary: [],
        content: [toReasoningPart(text)],
        encrypted_content: null,
      }
    case 'summary':
      return { id, type: 'reasoning', status, summary: [toSummaryPart(text)], encrypted_content: null }
    case 'call':
      return { id, type: 'function_call', status, call_id: item.callId, name: item.name, arguments: text }
  }
}

/** An item begins without its part, whose own event follows. */
export function openingEvents({ item, index }: PlacedItem): readonly NewEvent[] {
  const empty: Item = {
    ...item,
    status: 'in_progress',
    text: '',
    ...(item.kind === 'message' && { logprobs: [] }),
  }
  const shown = toOutputItem(empty)
  const part = partEvent('added', { item: empty, index })
  const added = { type: 'response.output_item.added', output_index: index } as const
  switch (shown.type) {
    case 'message':
      return [{ ...added, item: { ...shown, content: [] } }, ...part]
    case 'reasoning':
      return [{ ...added, item: { ...shown, summary: [], ...(shown.content && { content: [] }) } }, ...part]
    case 'function_call':
      return [{ ...added, item: shown }]
  }
}

export function deltaEvent({
  item,
  index,
  delta,
  logprobs,
}: Extract<ItemChange, { type: 'grown' }>): NewEvent {
  const place = { item_id: item.id, output_index: index }
  switch (item.kind) {
    case 'message':
      return {
        type: 'response.output_text.delta',
        ...place,
        content_index: 0,
        delta,
        logprobs: logprobs.map((token) => toTokenLogprob(token)),
      }
    case 'reasoning':
      return { type: 'response.reasoning_text.delta', ...place, content_index: 0, delta }
    case 'summary':
      return { type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta }
    case 'call':
      return { type: 'response.function_call_arguments.delta', ...place, delta }
  }
}

export function closingEvents({ item, index }: PlacedItem): readonly NewEvent[] {
  return [
    doneEvent({ item, index }),
    ...partEvent('done', { item, index }),
    { type: 'response.output_item.done', output_index: index, item: toOutputItem(item) },
  ]
}

function doneEvent({ item, index }: PlacedItem): NewEvent {
  const { text } = item
  const place = { item_id: item.id, output_index: index }
  switch (item.kind) {
    case 'message': {
      const { logprobs } = toTextPart(item)
      return { type: 'response.output_text.done', ...place, content_index: 0, text, logprobs }
    }
    case 'reasoning':
      return { type: 'response.reasoning_text.done', ...place, content_index: 0, text }
    case 'summary':
      return { type: 'response.reasoning_summary_text.done', ...place, summary_index: 0, text }
    case 'call':
      return { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: text }
  }
}

/** A call has no parts. */
function partEvent(action: 'added' | 'done', { item, index }: PlacedItem): readonly NewEvent[] {
  const place = { item_id: item.id, output_index: index }
  switch (item.kind) {
    case 'message':
      return [{ type: `response.content_part.${action}`, ...place, content_index: 0, part: toTextPart(item) }]
    case 'reasoning': {
      const part = toReasoningPart(item.text)
      return [{ type: `response.content_part.${action}`, ...place, content_index: 0, part }]
    }
    case 'summary': {
      const part = toSummaryPart(item.text)
      return [{ type: `response.reasoning_summary_part.${action}`, ...place, summary_index: 0, part }]
    }
    case 'call':
      return []
  }
}

function toTextPart({ text, logprobs }: MessageItem) {
  return {
    type: 'output_text' as const,
    text,
    annotations: [],
    logprobs: logprobs.map((token) => toTokenLogprob(token)),
  }
}

function toReasoningPart(text: string) {
  return { type: 'reasoning_text' as const, text }
}

function toSummaryPart(text: string) {
  return { type: 'summary_text' as const, text }
}
