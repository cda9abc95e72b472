/// What long work asks now and then whether it may go on.
protocol Paced: AnyObject {
    /// - Throws: why the request should stop.
    func goOn() throws
}

extension ScanTurn: Paced {}

extension RequestControl: Paced {
    func goOn() throws { try check() }
}

typealias ControlPace = Pace<RequestControl>
typealias TurnPace = Pace<ScanTurn>

/// Asks each so many steps of a loop whose steps are short.
struct Pace<Asked: Paced> {
    private let asked: Asked?
    private let steps: Int
    private var left: Int

    init(_ asked: Asked?, every steps: Int) {
        self.asked = asked
        self.steps = steps
        left = steps
    }

    /// - Throws: why the request should stop.
    @inline(__always)
    mutating func step() throws {
        left -= 1
        if left > 0 { return }
        left = steps
        try asked?.goOn()
    }
}
