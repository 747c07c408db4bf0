/** Keeps a file of the cache while an engine has it open: the engine may have to open it again. */
import type { Engine } from '../../protocol/engine.ts'
import { touchEntry, TOUCH_ENTRY_MS } from './artifact-manifest.ts'

/** The engine, which touches its cache entry until it is closed. */
export function touchWhileOpen(engine: Engine, modelPath: string): Engine {
  const timer = setInterval(() => void touchEntry(modelPath), TOUCH_ENTRY_MS).unref()
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
