import CStrataSupport

/// The processors that the process may use.
enum Processors {
    /// Asked for once, and not of Foundation: it reads files of the system's for it, and is first told by Swift's runtime
    /// how sets work.
    static let count = Int(strata_processor_count())
}
