/** How the starts of usage's steps are written. Days are of UTC, as the server counts them; hours are those of the reader. */

export interface StepTimes {
  /** On an axis. */
  readonly mark: (unixSeconds: number) => string
  /** In a sentence. */
  readonly full: (unixSeconds: number) => string
}

type Options = Intl.DateTimeFormatOptions

function createFormat(options: Options): (unixSeconds: number) => string {
  const format = new Intl.DateTimeFormat('en-GB', options)
  return (unixSeconds) => format.format(unixSeconds * 1000)
}

const CLOCK: Options = { hour: '2-digit', minute: '2-digit' }
const DAY: Options = { day: 'numeric', month: 'short' }

/** @param timeZone @default the reader's */
export function createHourTimes(timeZone?: string): StepTimes {
  const clock = createFormat({ ...CLOCK, timeZone })
  const day = createFormat({ ...DAY, timeZone })
  const mark = (unixSeconds: number) => (clock(unixSeconds) === '00:00' ? day : clock)(unixSeconds)
  return { mark, full: createFormat({ dateStyle: 'medium', timeStyle: 'short', timeZone }) }
}

export const TIMES: Readonly<Record<'hour' | 'day', StepTimes>> = {
  hour: createHourTimes(),
  day: {
    mark: createFormat({ ...DAY, timeZone: 'UTC' }),
    full: createFormat({ dateStyle: 'medium', timeZone: 'UTC' }),
  },
}
