import DebianIndex

/// Which package the program looks into.
enum Subject {
    /// A package that the user named and the index does not have.
    struct UnknownPackage: Error, CustomStringConvertible {
        let name: String
        let near: [String]

        var description: String {
            let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: ", "))?"
            return "the index has no package named \"\(name)\"\(hint)"
        }
    }

    /// The name asked for, or one that makes an interesting answer.
    static func choose(_ name: String?, in index: PackageIndex) throws -> String {
        let names = Set(index.packages.map(\.name))
        if let name {
            guard names.contains(name) else { throw UnknownPackage(name: name, near: index.names(near: name)) }
            return name
        }
        if names.contains("build-essential") { return "build-essential" }
        var counts: [Int: Int] = [:]
        for dependency in index.dependencies where dependency.kind == .depends {
            counts[dependency.owner, default: 0] += 1
        }
        let neediest = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return index.packages[neediest?.key ?? 0].name
    }
}
