import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { EventSink } from './event-sink.ts'
import { type OpenRequest, OpenRequests } from './open-requests.ts'

interface Said {
  readonly id: string
  readonly isLast: boolean
}

function createRequests() {
  const onEnd = vi.fn<(id: string, index: number) => void>()
  const onDrop = vi.fn<(id: string, index: number) => void>()
  const requests = new OpenRequests<string, number, Said>({
    keyOf: ({ id }) => id,
    toEngineEvent: ({ isLast }, index) =>
      isLast
        ? { type: 'sequence-end', index, finishReason: 'stop', error: null }
        : { type: 'text-delta', index, text: 'a', tokenIds: [1] },
    onEnd,
    onDrop,
  })
  const open = (...ids: readonly string[]) => {
    const deliver = vi.fn<EventSink['deliver']>()
    const sink = { deliver, fail: vi.fn<EventSink['fail']>(), end: vi.fn<EventSink['end']>() }
    const request: OpenRequest<string, number> = { sink, arrivalMs: 0, drop: null, open: new Map() }
    for (const [index, id] of ids.entries()) requests.add(request, id, index)
    requests.begin(request, [])
    return { ...sink, request }
  }
  return { requests, open, onEnd, onDrop }
}

const say = (id: string): Said => ({ id, isLast: false })
const end = (id: string): Said => ({ id, isLast: true })
const shapeOf = (events: readonly EngineEvent[]) => events.map(({ type, index }) => `${type} ${index}`)

describe('open requests', () => {
  it('get the events of their own sequences together, and end with the last of them', () => {
    const { requests, open, onEnd } = createRequests()
    const one = open('a', 'b')
    const other = open('c')

    requests.deliver([say('a'), end('c'), end('b')])
    const isOpen = one.end.mock.calls.length === 0
    requests.deliver([end('a')])

    expect(one.deliver.mock.calls.map(([events]) => shapeOf(events))).toEqual([
      ['text-delta 0', 'sequence-end 1'],
      ['sequence-end 0'],
    ])
    expect(other.deliver.mock.calls.map(([events]) => shapeOf(events))).toEqual([['sequence-end 0']])
    expect(isOpen).toBe(true)
    expect(one.end).toHaveBeenCalledOnce()
    expect(other.end).toHaveBeenCalledOnce()
    expect(onEnd.mock.calls).toEqual([
      ['c', 0],
      ['b', 1],
      ['a', 0],
    ])
  })

  it('end at once where none of their sequences can run', () => {
    const { requests, open } = createRequests()
    const { request, deliver, end: onEnded } = open('a')
    const error = new ServiceError('prompt_empty')

    request.open.clear()
    requests.begin(request, [{ index: 0, error }])

    expect(deliver.mock.calls).toEqual([
      [
        [
          {
            type: 'sequence-end',
            index: 0,
            finishReason: 'error',
            error: { code: 'prompt_empty', params: {} },
          },
        ],
      ],
    ])
    expect(onEnded).toHaveBeenCalledOnce()
  })

  it('get nothing more once they were aborted, and end once', () => {
    const { requests, open, onDrop } = createRequests()
    const { request, deliver, end: onEnded } = open('a', 'b')

    requests.abort(request)
    requests.abort(request)
    requests.deliver([end('a')])

    expect(onDrop.mock.calls).toEqual([
      ['a', 0],
      ['b', 1],
    ])
    expect(deliver).not.toHaveBeenCalled()
    expect(onEnded).toHaveBeenCalledOnce()
  })

  it('fail once each, whatever their number of sequences', () => {
    const { requests, open } = createRequests()
    const one = open('a', 'b')
    const ended = open('c')
    requests.deliver([end('c')])
    const error = new ServiceError('engine_failed')

    requests.failAll(error)
    requests.failAll(error)

    expect(one.fail.mock.calls).toEqual([[error]])
    expect(one.end).not.toHaveBeenCalled()
    expect(ended.fail).not.toHaveBeenCalled()
  })
})
