// @ts-check
/** Reads a request of an engine in this process to its end. Used by benchmarks of the engine alone. */

/**
 * The tokens of its text, and the longest time between two deliveries of events.
 * @param {Pick<import('../../dist/protocol/engine.js').Engine, 'generate'>} engine
 * @param {import('../../dist/protocol/engine.js').EngineRequest} request
 */
export async function readDeliveries(engine, request) {
  let tokens = 0
  let lastMs = 0
  let longestMs = 0
  for await (const events of engine.generate(request, new AbortController().signal)) {
    for (const event of events) if (event.type === 'text-delta') tokens += event.tokenIds.length
    const nowMs = performance.now()
    if (lastMs > 0) longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  return { tokens, longestMs }
}
