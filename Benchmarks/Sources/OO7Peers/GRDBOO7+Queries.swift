import BenchSupport
import GRDB
import OO7Load

extension GRDBOO7 {
    public func parts(_ ids: [Int64]) throws -> UInt64 {
        try pool.read { try PartRecord.fetchAll($0, keys: ids) }.reduce(0) { $0 &+ $1.digest }
    }

    public func parts(builtSince date: Int64) throws -> UInt64 {
        try sum(PartRecord.filter(PartRecord.Columns.buildDate >= date))
    }

    public func allParts() throws -> UInt64 { try sum(PartRecord.all()) }

    private func sum(_ request: QueryInterfaceRequest<PartRecord>) throws -> UInt64 {
        try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
    }

    public func assemblies(usingDocuments titles: [String]) throws -> UInt64 {
        try pool.read { database in
            var sum: UInt64 = 0
            for title in titles {
                let document = CompositeRecord.document.filter(DocumentRecord.Columns.title == title)
                guard let composite = try CompositeRecord.joining(required: document).fetchOne(database) else {
                    throw BenchFailure("\(title) is missing")
                }
                sum &+= try composite.users.fetchAll(database).reduce(0) { $0 &+ $1.digest }
            }
            return sum
        }
    }

    public func outdatedBaseAssemblies() throws -> UInt64 {
        let assembly = TableAlias<AssemblyRecord>()
        let request = AssemblyRecord.aliased(assembly)
            .joining(
                required: AssemblyRecord.composites.filter(
                    CompositeRecord.Columns.buildDate > assembly[AssemblyRecord.Columns.buildDate])
            )
            .distinct()
        return try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
    }

    /// The query interface has no recursion: all assemblies and the dates of what they use are read, and compared here.
    public func outdatedAssemblies() throws -> UInt64 {
        let (assemblies, dates) = try pool.read { database in
            (
                try AssemblyRecord.fetchAll(database),
                try AssemblyRecord
                    .annotated(with: AssemblyRecord.composites.max(CompositeRecord.Columns.buildDate).forKey("newest"))
                    .filter(AssemblyRecord.Columns.isBase)
                    .asRequest(of: NewestComponent.self).fetchAll(database)
            )
        }
        var newest = Dictionary(uniqueKeysWithValues: dates.map { ($0.id, $0.newest ?? 0) })
        var sum: UInt64 = 0
        // Assemblies have greater numbers than those above them.
        for assembly in assemblies.sorted(by: { $0.id > $1.id }) {
            let date = newest[assembly.id] ?? 0
            if date > assembly.buildDate { sum &+= assembly.digest }
            if let above = assembly.superId { newest[above] = max(newest[above] ?? 0, date) }
        }
        return sum
    }

    public func documentsAndParts() throws -> UInt64 {
        let document = PartRecord.document.select(DocumentRecord.Columns.id, DocumentRecord.Columns.title)
        let request = PartRecord.including(required: document).asRequest(of: PartWithDocument.self)
        return try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
    }
}

/// A base assembly and the date of the newest composite part that it uses.
private struct NewestComponent: Codable, FetchableRecord {
    var id: Int64
    var newest: Int64?
}
