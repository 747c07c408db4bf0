/** The version of the interface (spec: Versioning), which both servers report; never the package's. */
export const INTERFACE_VERSION = '1.1.1'
