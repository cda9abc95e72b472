/// A request with its constants, by which the way to its results is remembered.
package struct PageKey: Hashable, Sendable {
    /// A constant of a type that is told apart by its value alone.
    private enum Constant: Hashable {
        case null
        case integer(Int64)
        /// By bits: zeros of both signs and all that is no number are told apart.
        case real(UInt64)
        case date(UInt64)
        case string(String)
        case uuid(UInt64, UInt64)
    }

    private let serial: UInt64
    private let constants: [Constant]

    /// Nil for constants of other types, and lists.
    package init?(_ plan: FetchPlan) {
        var constants: [Constant] = []
        for parameter in plan.parameters?.values ?? [] {
            switch parameter.operand {
            case .null: constants.append(.null)
            case .integer(let value): constants.append(.integer(value))
            case .double(let value): constants.append(.real(value.bitPattern))
            case .date(let value): constants.append(.date(value.bitPattern))
            case .string(let text): constants.append(.string(text))
            case .uuid(let value): constants.append(.uuid(value.words.0, value.words.1))
            default: return nil
            }
        }
        serial = plan.prepared.serial
        self.constants = constants
    }

    package static func == (left: PageKey, right: PageKey) -> Bool {
        guard left.serial == right.serial, left.constants.count == right.constants.count else { return false }
        return zip(left.constants, right.constants).allSatisfy { left, right in
            // Strings that are equal to Swift may be different bytes.
            if case .string(let left) = left, case .string(let right) = right {
                return left.utf8.elementsEqual(right.utf8)
            }
            return left == right
        }
    }
}
