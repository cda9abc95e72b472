extension Duration {
    /// Whole nanoseconds, towards zero; of a duration of more than 292 years as many as there can be.
    package var wholeNanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}
