import StrataLog
import StrataSchema

/// The least or the greatest of the texts of an owner's members, one by one.
struct MemberText {
    let isGreatest: Bool
    private var bytes: [UInt8] = []
    private(set) var isNull = true
    /// Whether a text lies out of line: then the interpreter has to read it.
    private(set) var isUnknown = false

    init(isGreatest: Bool) { self.isGreatest = isGreatest }

    /// Forgets the members so far.
    mutating func beginOwner() { (isNull, isUnknown) = (true, false) }

    mutating func add(_ column: ColumnView, _ row: Int) {
        if column.isNull(row) || isUnknown { return }
        if column.isExternal(row) {
            isUnknown = true
            return
        }
        let new = column.bytes(row)
        if !isNull, bytes.withUnsafeBytes({ StringMatching.order(new, $0) }) != (isGreatest ? 1 : -1) { return }
        isNull = false
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: new)
    }

    /// Appends the text. Nil where there is none, false where it is unknown or too long.
    func append(to builder: ColumnChunkBuilder) -> Bool? {
        if isUnknown { return false }
        return isNull ? nil : builder.append(bytes)
    }
}
