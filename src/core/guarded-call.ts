/**
 * A function of the application as this program calls it: it never throws, and what it throws, or its promise rejects with, goes to
 * `onFailure`. Its promise is not awaited.
 */
export function guardedCall<Arguments extends readonly unknown[]>(
  call: (...given: Arguments) => unknown,
  onFailure: (error: unknown) => void,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      Promise.resolve(call(...given)).catch(onFailure)
    } catch (error) {
      onFailure(error)
    }
  }
}
