/// What of a file an import does not take: an error, unless the caller wants what there is. Used by one thread.
final class ImportAccount {
    private let path: String
    private let isPartial: Bool
    private var counts: [String: Int] = [:]

    /// - Parameter isPartial: whether what cannot be taken is left out, and counted.
    init(path: String, isPartial: Bool) {
        self.path = path
        self.isPartial = isPartial
    }

    /// Notes that something is left out.
    ///
    /// - Parameters:
    ///   - what: what it is, such as "ZPERSON.ZOLD: values of no property of the model".
    ///   - count: how many there are.
    ///   - example: the place of the first one, for an error.
    /// - Throws: ``TransferError`` unless such is to be left out.
    func omit(_ what: @autoclosure () -> String, count: Int = 1, example: @autoclosure () -> String = "") throws {
        guard isPartial else {
            let example = example()
            throw TransferError(
                "\(path): \(what())\(example.isEmpty ? "" : ", such as \(example)"). An import that is to leave out what it "
                    + "cannot take has to be told so (--partial)")
        }
        counts[what(), default: 0] += count
    }

    /// One line each.
    var omissions: [String] { counts.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" } }
}
