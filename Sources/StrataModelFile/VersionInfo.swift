import Foundation

/// "VersionInfo.plist" in a directory of compiled models: which version is the current one, and the version hashes of
/// all.
///
/// It has the keys of Apple's tools, for programs that list the versions, and one of Strata's own, without which the
/// hashes are Apple's and tell the library nothing.
package struct VersionInfo: Equatable {
    private static let currentNameKey = "NSManagedObjectModel_CurrentVersionName"
    private static let hashesKey = "NSManagedObjectModel_VersionHashes"
    private static let formatKey = "StrataModelFormat"
    private static let format = 1

    package var currentName: String?
    /// By version and entity. A version of Strata's has no hashes if only the library can compute them.
    package var hashes: [String: [String: Data]]
    /// Whether Strata wrote the file, and the hashes are Strata's.
    package var isOwn: Bool

    /// What is to be written about versions.
    package init(_ model: VersionedModel) {
        isOwn = true
        currentName = model.currentName
        hashes = Dictionary(
            model.versions.map { ($0.name, $0.document.versionHashes() ?? [:]) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Reads a file of Strata's or of Apple's.
    ///
    /// - Returns: nil if there is none that can be read.
    package init?(in directory: URL) {
        guard let data = try? Data(contentsOf: directory.appendingPathComponent("VersionInfo.plist")),
            let list = try? PropertyListFile.dictionary(data)
        else { return nil }
        currentName = list[Self.currentNameKey] as? String
        isOwn = list[Self.formatKey] as? Int == Self.format
        hashes = list[Self.hashesKey] as? [String: [String: Data]] ?? [:]
    }

    func data() throws -> Data {
        let list: [String: Any] = [
            Self.currentNameKey: currentName ?? "", Self.hashesKey: hashes, Self.formatKey: Self.format,
        ]
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }
}
