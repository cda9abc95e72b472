import GRDB
import OO7Load

struct ModuleRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "module"

    var id: Int64
    var type: String
    var buildDate: Int64
    var rootId: Int64
}

struct ManualRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "manual"

    var id: Int64
    var title: String
    var text: String
    var moduleId: Int64
}

struct AssemblyRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "assembly"
    static let subAssemblies = hasMany(AssemblyRecord.self)
    static let superAssembly = belongsTo(AssemblyRecord.self)
    static let components = hasMany(ComponentRecord.self)
    static let composites = hasMany(CompositeRecord.self, through: components, using: ComponentRecord.composite)

    enum Columns {
        static let buildDate = Column(CodingKeys.buildDate)
        static let isBase = Column(CodingKeys.isBase)
    }

    var id: Int64
    var type: String
    var buildDate: Int64
    var isBase: Bool
    var superId: Int64?
    var moduleId: Int64

    var subAssemblies: QueryInterfaceRequest<AssemblyRecord> { request(for: Self.subAssemblies) }
    var superAssembly: QueryInterfaceRequest<AssemblyRecord> { request(for: Self.superAssembly) }
    var composites: QueryInterfaceRequest<CompositeRecord> { request(for: Self.composites) }

    var digest: UInt64 { assemblyDigest(id: id, buildDate: buildDate) }
}

struct ComponentRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "component"
    static let assembly = belongsTo(AssemblyRecord.self)
    static let composite = belongsTo(CompositeRecord.self)

    var assemblyId: Int64
    var compositeId: Int64
}

struct CompositeRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "composite"
    static let components = hasMany(ComponentRecord.self)
    static let users = hasMany(AssemblyRecord.self, through: components, using: ComponentRecord.assembly)
    static let document = hasOne(DocumentRecord.self)

    enum Columns {
        static let buildDate = Column(CodingKeys.buildDate)
    }

    var id: Int64
    var type: String
    var buildDate: Int64
    var rootId: Int64

    var users: QueryInterfaceRequest<AssemblyRecord> { request(for: Self.users) }
    var document: QueryInterfaceRequest<DocumentRecord> { request(for: Self.document) }
}

struct DocumentRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "document"
    static let composite = belongsTo(CompositeRecord.self)

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let title = Column(CodingKeys.title)
    }

    var id: Int64
    var title: String
    var text: String
    var compositeId: Int64
}

struct PartRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "part"
    static let connections = hasMany(ConnectionRecord.self, using: ForeignKey(["fromId"]))
    static let composite = belongsTo(CompositeRecord.self)
    static let document = belongsTo(DocumentRecord.self, using: ForeignKey(["documentId"]))

    enum Columns {
        static let buildDate = Column(CodingKeys.buildDate)
    }

    var id: Int64
    var type: String
    var buildDate: Int64
    var x: Int64
    var y: Int64
    var documentId: Int64
    var compositeId: Int64

    var connections: QueryInterfaceRequest<ConnectionRecord> { request(for: Self.connections) }
    var composite: QueryInterfaceRequest<CompositeRecord> { request(for: Self.composite) }

    var digest: UInt64 { partDigest(id: id, x: x, y: y, buildDate: buildDate) }
}

struct ConnectionRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "connection"

    var id: Int64
    var type: String
    var length: Int64
    var fromId: Int64
    var toId: Int64
}

/// What Q8 shows of a document.
struct DocumentTitle: Codable, FetchableRecord {
    var id: Int64
    var title: String
}

/// A pair of Q8.
struct PartWithDocument: Codable, FetchableRecord {
    var part: PartRecord
    var document: DocumentTitle

    var digest: UInt64 { pairDigest(part: part.id, document: document.id, titleByteCount: document.title.utf8.count) }
}
