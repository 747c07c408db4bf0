/** Progress for a person to watch: more than a hundred messages cost time and show nothing more. */

/** Passes on the first fraction, 0 to 1, of each whole percent. */
export function wholePercents(report: (fraction: number) => void): (fraction: number) => void {
  let last = -1
  return (fraction) => {
    const percent = Math.floor(fraction * 100)
    if (percent === last) return
    last = percent
    report(fraction)
  }
}
