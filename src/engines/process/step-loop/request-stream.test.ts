import { expect, it, vi } from 'vitest'
import { ServiceError } from '../../../core/errors.ts'
import { RequestStream } from './request-stream.ts'

/** A stream that is read to its end, and how that ends. */
function openStream() {
  const client = new AbortController()
  const onCancel = vi.fn()
  const onSettled = vi.fn()
  const stream = new RequestStream({ signal: client.signal, onCancel })
  const reading = (async () => {
    for await (const events of stream) void events
  })().finally(onSettled)
  reading.catch(() => {})
  return { client, onCancel, onSettled, stream, reading }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

it('a client that left is let go when the engine has ended its request, and not before', async () => {
  const { client, onCancel, onSettled, stream, reading } = openStream()
  await turn()

  client.abort(new Error('gone'))
  await turn()

  expect(onCancel).toHaveBeenCalledOnce()
  expect(onSettled).not.toHaveBeenCalled()
  stream.end()
  await expect(reading).rejects.toThrow('gone')
})

it('a client that left hears why it left, also where the engine dies of its request', async () => {
  const { client, stream, reading } = openStream()

  client.abort(new Error('gone'))
  stream.fail(new ServiceError('engine_failed'))

  await expect(reading).rejects.toThrow('gone')
})
