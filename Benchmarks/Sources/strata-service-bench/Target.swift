/// A figure that Strata promises of a service.
struct Target {
    enum Bound {
        case atLeast(Double)
        case atMost(Double)
    }

    var text: String
    var bound: Bound
    var unit: String
    /// Nil when it was not measured.
    var value: Double?

    var line: String {
        guard let value else { return "  target: \(text): not measured" }
        switch bound {
        case .atLeast(let limit):
            return "  target: \(text): \(value.short)\(unit) (at least \(limit.short)\(unit)): "
                + (value >= limit ? "met" : "NOT MET")
        case .atMost(let limit):
            return "  target: \(text): \(value.short)\(unit) (at most \(limit.short)\(unit)): "
                + (value <= limit ? "met" : "NOT MET")
        }
    }
}
