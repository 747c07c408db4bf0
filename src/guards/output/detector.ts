/**
 * What watches one sequence's text for something that must not leave. It is shown the text piece by piece, each once, and
 * says from where on the text must wait. Offsets count UTF-16 units from the beginning of the sequence.
 */
export interface Detector {
  /** Of the metric and the log line. */
  readonly rule: string
  /** Looks at what follows everything shown before. True when what was watched for is now complete. */
  see(text: string): boolean
  /** The first offset that may not be sent yet; where the hit begins after one. Infinity when nothing has to wait. */
  readonly holdFrom: number
}
