import CoreData
import DebianIndex

/// Writes the objects of an index in batches.
///
/// Batch inserts write rows without an object for each: each entity is inserted before those that refer to it, and of
/// what is referred to a fault is kept.
struct Importer {
    /// What an import did.
    struct Outcome: Sendable {
        var objectCount = 0
        var saveCount = 0
        var duration = Duration.zero
    }

    private let context: NSManagedObjectContext
    private let batchSize: Int
    private let progress: (Int) -> Void
    private var outcome = Outcome()

    /// - Parameters:
    ///   - context: What executes the requests. The importer is used on the context's queue.
    ///   - batchSize: How many objects a transaction has; the last one of an entity may have fewer.
    ///   - progress: Called after each transaction with the number of objects written so far.
    init(context: NSManagedObjectContext, batchSize: Int, progress: @escaping (Int) -> Void) {
        self.context = context
        self.batchSize = batchSize
        self.progress = progress
    }

    /// Imports everything and returns when the last save has.
    mutating func run(_ index: PackageIndex) throws -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        let sections = try insert(Section.self, index.sections) { section, name in section.name = name }
        let maintainers = try insert(Maintainer.self, index.maintainers) { maintainer, field in
            (maintainer.name, maintainer.email) = MaintainerField.split(field)
        }
        let packages = try insert(Package.self, index.packages) { package, record in
            Self.fill(package, record)
            package.section = record.section.map { sections[$0] }
            package.maintainer = record.maintainer.map { maintainers[$0] }
        }
        try insertAll(Dependency.self, index.dependencies, .statusOnly) { dependency, record in
            Self.fill(dependency, record)
            dependency.package = packages[record.owner]
            dependency.target = record.target.map { packages[$0] }
        }
        outcome.duration = clock.now - start
        return outcome
    }

    private static func fill(_ package: Package, _ record: PackageRecord) {
        package.name = record.name
        package.isVirtual = record.isVirtual
        package.installedSizeKiB = record.installedSizeKiB
        package.downloadSizeBytes = record.downloadSizeBytes
        package.isEssential = record.isEssential
        guard !record.isVirtual else { return }
        package.version = record.version
        package.architecture = record.architecture
        package.priority = record.priority
        package.source = record.source
        package.homepage = record.homepage
        package.summary = record.summary
        package.fileName = record.fileName
    }

    private static func fill(_ dependency: Dependency, _ record: DependencyRecord) {
        dependency.kind = record.kind
        dependency.group = Int32(record.group)
        dependency.alternative = Int16(record.alternative)
        dependency.relation = record.relation
        dependency.version = record.version
        dependency.qualifier = record.qualifier
        dependency.unresolvedName = record.unresolvedName
    }

    // MARK: Batches

    /// Inserts an object for each record.
    ///
    /// - Returns: A fault for each, in the order of the records.
    private mutating func insert<Object: NSManagedObject, Record>(
        _ type: Object.Type, _ records: [Record], _ fill: (Object, Record) -> Void
    ) throws -> [Object] {
        try insertAll(type, records, .objectIDs, fill).map { id in
            guard let object = context.object(with: id) as? Object else { throw WrongClass(id: id) }
            return object
        }
    }

    /// Inserts an object for each record, in transactions that are durable one after the other.
    @discardableResult
    private mutating func insertAll<Object: NSManagedObject, Record>(
        _ type: Object.Type, _ records: [Record], _ resultType: NSBatchInsertRequestResultType,
        _ fill: (Object, Record) -> Void
    ) throws -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        try withoutActuallyEscaping(fill) { fill in
            for start in stride(from: 0, to: records.count, by: batchSize) {
                var rest = records[start..<min(start + batchSize, records.count)]
                outcome.objectCount += rest.count
                let request = NSBatchInsertRequest(entity: type.entity()) { (object: NSManagedObject) in
                    guard let record = rest.popFirst(), let object = object as? Object else { return true }
                    fill(object, record)
                    return false
                }
                request.resultType = resultType
                let result = try context.execute(request) as? NSBatchInsertResult
                ids += result?.result as? [NSManagedObjectID] ?? []
                outcome.saveCount += 1
                progress(outcome.objectCount)
            }
        }
        return ids
    }

    /// The store gave back an object of another entity than was inserted.
    private struct WrongClass: Error, CustomStringConvertible {
        let id: NSManagedObjectID
        var description: String { "\(id) is of another class than was inserted" }
    }
}
