import CoreData
import Foundation
import StrataModelXML

/// The versions of one model in a folder of files of real programs.
struct CorpusChain {
    let name: String
    var versions: [(name: String, document: ModelDocument)]

    func model(_ index: Int) throws -> NSManagedObjectModel {
        var document = versions[index].document
        // The program's classes are not there.
        for position in document.entities.indices { document.entities[position].className = nil }
        return try NSManagedObjectModel(document: document)
    }

    /// By "INDEX.tsv", which says where each file was; the files of one ".xcdatamodeld", or of folders beside each
    /// other that are named alike but for a number, are versions of one model.
    static func xcode(in folder: URL) throws -> [CorpusChain] {
        let models = folder.appendingPathComponent("models")
        let index = try String(contentsOf: models.appendingPathComponent("INDEX.tsv"), encoding: .utf8)
        var chains: [String: [(name: String, document: ModelDocument)]] = [:]
        for line in index.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
            let parts = fields[2].split(separator: "/").map { String($0) }
            guard parts.count > 2, parts[parts.count - 3].hasSuffix(".xcdatamodeld") else { continue }
            // "Shop 1.xcdatamodeld" and "Shop 2.xcdatamodeld" are two versions, "113.xcdatamodeld" and "125.…" are not.
            let isNamed = parts[parts.count - 3].dropLast(".xcdatamodeld".count).contains { $0.isLetter }
            let container = parts[..<(parts.count - 2)].joined(separator: "/").filter { !isNamed || !$0.isNumber }
            let file = models.appendingPathComponent(fields[0])
            let document = try XcodeModel.read(Data(contentsOf: file), file: file.path).document
            let version = parts[parts.count - 2].replacing(".xcdatamodel", with: "")
            chains["\(fields[1]) \(container)", default: []].append((version, document))
        }
        return chains.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { key, versions in
            CorpusChain(
                name: key.split(separator: "/").last.map { String($0) } ?? key,
                versions: versions.sorted { number($0.name) < number($1.name) })
        }
    }

    /// The last number of a version's name; the first version often has none.
    private static func number(_ name: String) -> Int {
        Int(String(name.reversed().drop { !$0.isNumber }.prefix { $0.isNumber }.reversed())) ?? 0
    }

    /// Apple's compiled versions in a ".momd".
    static func compiled(_ momd: URL, _ names: [String]) throws -> CorpusChain {
        CorpusChain(
            name: momd.lastPathComponent,
            versions: try names.map { name in
                let data = try Data(contentsOf: momd.appendingPathComponent(name + ".mom"))
                return (name, try AppleModelFile(Array(data)).document)
            })
    }
}
