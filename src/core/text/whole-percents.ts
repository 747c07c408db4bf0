/** Limits progress reports to a hundred, as more would cost time and show nothing more. */

/** Forwards the first fraction, 0 to 1, of each whole percent. */
export function wholePercents(report: (fraction: number) => void): (fraction: number) => void {
  let last = -1
  return (fraction) => {
    const percent = Math.floor(fraction * 100)
    if (percent === last) return
    last = percent
    report(fraction)
  }
}
