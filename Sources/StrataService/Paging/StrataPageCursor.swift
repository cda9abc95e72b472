/// A place between two results of a request, and the direction in which to go on from there.
///
/// It is opaque and safe in URLs: its text has letters, digits, `-` and `_` only. It holds the sort keys of a result,
/// which whoever has the cursor can read, and the number of its object. The place stays when objects come and go, also
/// that object itself. A cursor goes with requests of the same entity and sort descriptors in the same store, whatever
/// their predicates; others throw ``StrataPageError``.
public struct StrataPageCursor: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// The longest text, in bytes.
    static let textLengthMaximum = 65_536
    private static let version: UInt8 = 1
    private static let fixedByteCount = 10

    /// The text.
    public let description: String
    let isForward: Bool
    /// Whether the result at the place itself is a part of what follows.
    let isInclusive: Bool
    /// Of entity, order and store.
    let digest: UInt64
    /// The object's number, as its URI has it, and the sort keys.
    let place: [UInt8]

    init(isForward: Bool, isInclusive: Bool, digest: UInt64, place: [UInt8]) {
        self.isForward = isForward
        self.isInclusive = isInclusive
        self.digest = digest
        self.place = place
        let flags: UInt8 = (isForward ? 1 : 0) | (isInclusive ? 2 : 0)
        description = URLSafeText.encoded([Self.version, flags] + PageBytes.bytes(of: digest) + place)
    }

    /// A text from outside; nil if it cannot be one of a cursor. Whether it goes with a request, the request says.
    public init?(_ description: String) {
        guard description.utf8.count <= Self.textLengthMaximum, let bytes = URLSafeText.decoded(description),
            bytes.count > Self.fixedByteCount, bytes[0] == Self.version, bytes[1] <= 3
        else { return nil }
        self.description = description
        isForward = bytes[1] & 1 != 0
        isInclusive = bytes[1] & 2 != 0
        digest = PageBytes.word(bytes[2..<Self.fixedByteCount])
        place = Array(bytes[Self.fixedByteCount...])
    }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = StrataPageCursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no cursor of a page.")
        }
        self = cursor
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
