/** A model that thinks, calls `get_weather` for Paris until the tool's result is in its prompt, and answers then. */
import { readFileSync } from 'node:fs'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import { promptOf, ScriptedEngine, sequenceEnd, sequenceStart, textDelta } from './scripted-engine.ts'

/** Of a model that thinks and calls. */
const chatTemplate = readFileSync('tools/checkpoints/templates/qwen3.jinja', 'utf8')

const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
const CALLS = `<think>\nI must look.\n</think>\n\nLet me see. ${CALL}`

/** In pieces of three characters, as tokens would come. @param result how that of the tool begins */
export function createWeatherCaller({ result, answer }: { result: string; answer: string }): ScriptedEngine {
  return new ScriptedEngine(
    async function* (request): AsyncGenerator<EngineEvent> {
      const isAnswered = promptOf(request).includes(`<tool_response>\n${result}`)
      const text = isAnswered ? `<think>\nNow I know.\n</think>\n\n${answer}` : CALLS
      yield sequenceStart()
      for (const piece of text.match(/[^]{1,3}/g) ?? []) yield textDelta(piece, [1])
      yield sequenceEnd()
    },
    { chatTemplate },
  )
}
