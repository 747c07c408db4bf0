/** How the URL of an endpoint is given. Imports nothing: `sluice doctor` reads them too. */

/** In front of a URL whose host's name may have several addresses. */
export const DNS_PREFIX = 'dns+'

/** `http://host:8000` and `http://host:8000/v1/` are the same. */
export function withVersion(given: string): string {
  const url = given.replace(/\/+$/, '')
  return url.endsWith('/v1') ? url : `${url}/v1`
}
