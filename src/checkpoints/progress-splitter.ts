/** Splits one progress, 0 to 1, among the steps of a load: each step reports its own 0 to 1, and the sum never falls. */

export type ReportProgress = (fraction: number) => void

export class ProgressSplitter {
  readonly #report: ReportProgress
  #done = 0

  constructor(report: ReportProgress) {
    this.#report = report
  }

  /** A step that takes this share of what is left when it begins; one that never reports takes nothing. */
  step(share = 1): ReportProgress {
    let start: number | null = null
    return (fraction) => {
      start ??= this.#done
      this.#done = Math.max(this.#done, start + fraction * share * (1 - start))
      this.#report(this.#done)
    }
  }

  /** Steps that run side by side and take all that is left: their mean counts. */
  parallel(count: number): readonly ReportProgress[] {
    const step = this.step()
    const fractions = Array.from({ length: count }, () => 0)
    return fractions.map((_, index) => (fraction) => {
      fractions[index] = fraction
      step(fractions.reduce((sum, one) => sum + one, 0) / count)
    })
  }
}
