/** Keeps a file of the data folder from being cleaned away while an engine has it: the engine may have to start again. */
import type { Engine } from '../protocol/engine.ts'
import { MARK_MS, markUsed } from '../checkpoints/cache/made-files.ts'

/** The engine, which marks its file as used until it is closed. */
export function keepInUse(engine: Engine, modelPath: string): Engine {
  const timer = setInterval(() => void markUsed(modelPath), MARK_MS)
  timer.unref()
  return {
    generate: (request, signal) => engine.generate(request, signal),
    info: () => engine.info(),
    status: () => engine.status(),
    close: async () => {
      clearInterval(timer)
      await engine.close()
    },
  }
}
