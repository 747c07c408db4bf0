/** The worker thread that renders long chats. Started by `render-thread.ts` only. */
import { answerCalls } from '../../core/concurrency/worker-calls.ts'
import { ServiceError } from '../../core/errors.ts'
import { ChatTemplate, type TemplateModel } from './chat-template.ts'
import type { RenderOrder, RenderOutcome } from './render-thread.ts'

/** Of the model of the last chat: parsing a template takes longer than rendering a short chat. */
let last: { readonly model: TemplateModel; readonly template: ChatTemplate } | null = null

answerCalls(({ model, chat }: RenderOrder): RenderOutcome => {
  try {
    if (last === null || !isSame(last.model, model)) last = { model, template: new ChatTemplate(model) }
    return { type: 'prompt', prompt: last.template.render(chat) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, params, param } = error
    return { type: 'refusal', code, params, param }
  }
})

function isSame(one: TemplateModel, other: TemplateModel): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
