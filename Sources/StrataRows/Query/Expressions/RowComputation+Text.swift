import Foundation
import StrataLog

// Functions of text. ASCII is changed where it lies; the rest goes through Foundation.
extension RowComputation {
    func text(_ function: ColumnFunction, _ column: ComputedColumn) throws(StoreError) -> ComputedColumn {
        let view = column.view
        // The view alone does not keep what it lies in.
        defer { withExtendedLifetime(column) {} }
        return try texts(exceptions: column.exceptions) { row, text in
            if view.isNull(row) { return false }
            let bytes = view.bytes(row)
            if Self.isASCII(bytes) {
                text.removeAll(keepingCapacity: true)
                text.append(contentsOf: bytes)
                if function == .uppercase {
                    for index in text.indices where Self.isLower(text[index]) { text[index] -= 32 }
                } else {
                    for index in text.indices where Self.isUpper(text[index]) { text[index] += 32 }
                }
                return true
            }
            let value = String(decoding: bytes, as: UTF8.self)
            switch function {
            case .uppercase: text = Array(TextPieces.changed(value) { $0.uppercased() }.utf8)
            case .lowercase: text = Array(TextPieces.changed(value) { $0.lowercased() }.utf8)
            default: text = StringMatching.folded(value, [.caseInsensitive, .diacriticInsensitive])
            }
            return true
        }
    }

    /// Lengths in UTF-16, as strings have them.
    func lengths(_ column: ComputedColumn) throws(StoreError) -> ComputedColumn {
        try map(column, to: .int64) { view, row in
            let bytes = view.bytes(row)
            return Int64(Self.isASCII(bytes) ? bytes.count : String(decoding: bytes, as: UTF8.self).utf16.count)
        }
    }

    @inline(__always)
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80
    }

    @inline(__always)
    private static func isLower(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }

    @inline(__always)
    private static func isUpper(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
}
