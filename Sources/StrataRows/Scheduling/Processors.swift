import CStrataSupport

/// The processors that the process may use.
package enum Processors {
    /// Asked for once, and not of Foundation, which makes a set for it: the first one has Swift's runtime search the
    /// conformances of all that is linked.
    package static let count = Int(strata_processor_count())
}
