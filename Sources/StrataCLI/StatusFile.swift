import Foundation

/// The file `NAME.strata-status` that StrataService writes beside a store, of which each verb reads what it prints.
enum StatusFile {
    private static let byteMaximum: UInt64 = 16 << 20

    private struct Version: Decodable {
        let version: Int
    }

    private static let version = 1

    /// - Returns: nil where nothing is told, or nothing that can be read.
    static func read<Part: Decodable>(_ part: Part.Type, besideStoreAt store: URL) -> Part? {
        let store = store.resolvingSymlinksInPath()
        let file = store.deletingLastPathComponent().appendingPathComponent(
            store.lastPathComponent + ".strata-status")
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            attributes[.size] as? UInt64 ?? .max <= byteMaximum, let data = try? Data(contentsOf: file),
            let found = try? JSONDecoder().decode(Version.self, from: data), found.version == version
        else { return nil }
        return try? JSONDecoder().decode(part, from: data)
    }
}
