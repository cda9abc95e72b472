import Foundation
import StrataSupport

/// Parts of a model in archives: one value, the bytes that models keep of them.
enum DescriptionCoding {
    private static let key = "description"

    static func encode(with coder: NSCoder, _ write: (inout ModelWriter) throws -> Void) {
        do {
            var writer = ModelWriter(mode: .storing)
            try write(&writer)
            coder.encode(NSData(data: Data(writer.payload)), forKey: key)
        } catch {
            programmerError(
                "\(type(of: self))", "the description cannot be archived: \(error)",
                "Give it values that can be archived")
        }
    }

    /// Nil when the coder has no such part or it is damaged.
    static func decode<Part>(from coder: NSCoder, _ read: (inout ModelReader) throws -> Part) -> Part? {
        guard let data = coder.decodeObject(of: NSData.self, forKey: key), data.length <= ModelEncoding.maximumByteCount
        else { return nil }
        var reader = ModelReader(Array(Data(referencing: data)))
        return try? reader.readAlone(read)
    }
}
