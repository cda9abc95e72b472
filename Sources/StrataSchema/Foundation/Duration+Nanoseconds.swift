extension Duration {
    /// As models keep it.
    var nanosecondsClamped: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLong || overflows ? (seconds < 0 ? .min : .max) : sum
    }
}
