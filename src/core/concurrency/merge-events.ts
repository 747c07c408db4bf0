/** The events of several runs as they come. A run is asked for more only once what it gave was taken, which is the back-pressure. */
import { withResolvers } from './with-resolvers.ts'

type Arrival<Event> =
  | { readonly run: AsyncGenerator<Event>; readonly result: IteratorResult<Event, unknown> }
  | { readonly error: unknown }

export async function* mergeEvents<Event>(
  runs: readonly AsyncGenerator<Event>[],
): AsyncGenerator<Event, void, void> {
  // A race between the runs would leave something of each round at each of those that wait.
  const came: Arrival<Event>[] = []
  let arrival = withResolvers<void>()
  const ask = async (run: AsyncGenerator<Event>): Promise<void> => {
    try {
      came.push({ run, result: await run.next() })
    } catch (error) {
      came.push({ error })
    }
    arrival.resolve()
  }
  for (const run of runs) void ask(run)
  let open = runs.length
  while (open > 0) {
    const next = came.shift()
    if (next === undefined) {
      await arrival.promise
      arrival = withResolvers()
    } else if ('error' in next) {
      throw next.error
    } else if (next.result.done === true) {
      open--
    } else {
      yield next.result.value
      void ask(next.run)
    }
  }
}
