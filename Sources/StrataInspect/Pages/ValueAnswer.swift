import Foundation
import HTTPTypes
import Strata
import StrataBrowsing

/// One value by itself: the bytes of data and text as they are.
struct ValueAnswer {
    let inspector: Inspector
    let query: Query
    let session: Session
    /// Larger ones would stop a browser.
    var maximumByteCount = Limits.answerBytes

    struct Value: Sendable {
        let bytes: Data
        /// What a browser may take it for.
        let contentType: String
        /// Whether it is to be saved, and not shown.
        let isAttachment: Bool
    }

    func value() throws -> Value {
        try inspector.read(session) { context in
            let object = try ObjectLookup.object(try query.required("id"), session, context)
            let name = try query.required("name")
            guard let attribute = object.entity.attributesByName[name] else {
                throw InspectError(
                    .notFound, "\(object.entity.name ?? "") has no attribute \(CellMarkup.cut(name, 200))")
            }
            switch object.value(forKey: name) {
            case let data as Data:
                try check(data.count)
                let type = Self.imageType(data)
                return Value(
                    bytes: data, contentType: type ?? "application/octet-stream", isAttachment: type == nil)
            case let value:
                let text = Cell(value, attribute).plainText
                try check(text.utf8.count)
                return Value(bytes: Data(text.utf8), contentType: "text/plain; charset=utf-8", isAttachment: false)
            }
        }
    }

    private func check(_ byteCount: Int) throws {
        guard byteCount <= maximumByteCount else {
            throw InspectError(
                .contentTooLarge,
                "the value has \(byteCount) bytes, more than \(maximumByteCount): strata get prints it whole")
        }
    }

    /// The kinds of images that run nothing, by their first bytes.
    static func imageType(_ data: Data) -> String? {
        let start = [UInt8](data.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if start.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if start.starts(with: Array("GIF87a".utf8)) || start.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        if start.count == 12, start.starts(with: Array("RIFF".utf8)), start[8...].elementsEqual("WEBP".utf8) {
            return "image/webp"
        }
        return nil
    }
}
