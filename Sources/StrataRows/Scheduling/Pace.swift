/// What long work asks now and then whether it may go on.
@usableFromInline
package protocol Paced: AnyObject {
    /// - Throws: why the request should stop.
    func goOn() throws
}

extension ScanTurn: Paced {}

extension RequestControl: Paced {
    @inlinable
    package func goOn() throws { try check() }
}

package typealias ControlPace = Pace<RequestControl>
package typealias TurnPace = Pace<ScanTurn>

/// Asks each so many steps of a loop whose steps are short.
@frozen
@usableFromInline
package struct Pace<Asked: Paced> {
    @usableFromInline let asked: Asked?
    @usableFromInline let steps: Int
    @usableFromInline var left: Int

    @inlinable
    package init(_ asked: Asked?, every steps: Int) {
        self.asked = asked
        self.steps = steps
        left = steps
    }

    /// - Throws: why the request should stop.
    @inlinable @inline(__always)
    package mutating func step() throws {
        left -= 1
        if left > 0 { return }
        left = steps
        try asked?.goOn()
    }
}
