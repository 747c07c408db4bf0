/** The events of several runs as they come. A run is asked for more only once what it gave was taken, which is the back-pressure. */

export async function* mergeEvents<Event>(
  runs: readonly AsyncGenerator<Event>[],
): AsyncGenerator<Event, void, void> {
  const next = (run: AsyncGenerator<Event>) => run.next().then((result) => ({ run, result }))
  const waiting = new Map(runs.map((run) => [run, next(run)]))
  try {
    while (waiting.size > 0) {
      const { run, result } = await Promise.race(waiting.values())
      if (result.done === true) {
        waiting.delete(run)
        continue
      }
      yield result.value
      waiting.set(run, next(run))
    }
  } finally {
    // The caller has ended their work: what is still waited for fails, and nobody waits for it.
    for (const pending of waiting.values()) pending.catch(() => {})
  }
}
