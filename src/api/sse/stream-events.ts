/**
 * Sends one generation's events to its client as SSE. An answer that was opened ends with exactly one `[DONE]`, which
 * leaves only once the generation is billed; an error before the opening is an ordinary answer, one after it an event
 * (spec: decisions, Errors).
 */
import type { FastifyReply } from 'fastify'
import { InvariantError, toServiceError, type ServiceError } from '../../core/errors.ts'
import type { Generation } from '../../generation/generation.ts'
import { toOpenAiError } from '../../net/render-error.ts'
import { logCause } from '../../telemetry/log-cause.ts'
import { frame, type FrameFormat } from '../dialects/frames.ts'
import { startSystemSilenceTimer, type AppDeps } from '../deps.ts'
import { SseWriter } from './sse.ts'

const DONE_FRAME = 'data: [DONE]\n\n'

export interface StreamOptions {
  readonly generation: Generation
  readonly format: FrameFormat
}

/** @throws ServiceError while the answer is not open yet. */
export async function streamEvents(
  deps: AppDeps,
  reply: FastifyReply,
  { generation, format }: StreamOptions,
): Promise<void> {
  using writer = new SseWriter(reply, {
    startTimer: deps.startSilenceTimer ?? startSystemSilenceTimer,
    onSlowReader: () => deps.metrics.countGuardHit({ guard: 'http', rule: 'slow-reader' }),
  })
  try {
    const lastFrames = await sendEvents(writer, { generation, format })
    writer.end(lastFrames + DONE_FRAME)
  } catch (thrown) {
    if (!writer.isOpen) throw thrown
    // The client has left.
    if (writer.isOver) return
    const requestId = reply.request.id
    const error = toServiceError(thrown, requestId)
    logCause(error, requestId, deps.log)
    writer.end(errorFrame(error) + DONE_FRAME)
  }
}

/** Sends all but the last frames, which it returns: they leave together with `[DONE]`. */
async function sendEvents(writer: SseWriter, { generation, format }: StreamOptions): Promise<string> {
  let lastFrames: string | null = null
  await generation.run((event) => {
    switch (event.type) {
      case 'sequence-start':
        writer.open()
        return send(writer, format.start(event))
      case 'text-delta':
        return send(writer, format.delta(event))
      case 'sequence-end':
        lastFrames = format.end(event)
        return undefined
    }
  })
  if (lastFrames === null) throw new InvariantError('The sequence never ended.')
  return lastFrames
}

function send(writer: SseWriter, frames: string): Promise<void> | undefined {
  return frames === '' ? undefined : writer.write(frames)
}

function errorFrame(error: ServiceError): string {
  return frame({ error: toOpenAiError(error), detail: error.message })
}
