import CoreData
import DebianIndex

/// Makes managed objects of an index and saves them in batches.
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
    private var unsaved = 0
    private var outcome = Outcome()

    /// - Parameters:
    ///   - context: Where the objects are made. The importer is used on the context's queue.
    ///   - batchSize: How many objects a save has; the last one may have fewer.
    ///   - progress: Called after each save with the number of objects saved so far.
    init(context: NSManagedObjectContext, batchSize: Int, progress: @escaping (Int) -> Void) {
        self.context = context
        self.batchSize = batchSize
        self.progress = progress
    }

    /// Imports everything and returns when the last save has.
    mutating func run(_ index: PackageIndex) throws -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        // Objects that later ones refer to are kept; the context itself keeps only those with unsaved changes.
        var sections: [Section] = []
        for name in index.sections {
            let section = Section(context: context)
            section.name = name
            sections.append(section)
            try added()
        }
        var maintainers: [Maintainer] = []
        for field in index.maintainers {
            maintainers.append(makeMaintainer(field))
            try added()
        }
        var packages: [Package] = []
        packages.reserveCapacity(index.packages.count)
        for record in index.packages {
            let package = makePackage(record)
            package.section = record.section.map { sections[$0] }
            package.maintainer = record.maintainer.map { maintainers[$0] }
            packages.append(package)
            try added()
        }
        for record in index.dependencies {
            let dependency = makeDependency(record)
            dependency.package = packages[record.owner]
            dependency.target = record.target.map { packages[$0] }
            try added()
        }
        if unsaved > 0 { try save() }
        outcome.duration = clock.now - start
        return outcome
    }

    private func makeMaintainer(_ field: String) -> Maintainer {
        let maintainer = Maintainer(context: context)
        let (name, email) = MaintainerField.split(field)
        maintainer.name = name
        maintainer.email = email
        return maintainer
    }

    private func makePackage(_ record: PackageRecord) -> Package {
        let package = Package(context: context)
        package.name = record.name
        package.isVirtual = record.isVirtual
        package.installedSizeKiB = record.installedSizeKiB
        package.downloadSizeBytes = record.downloadSizeBytes
        package.isEssential = record.isEssential
        guard !record.isVirtual else { return package }
        package.version = record.version
        package.architecture = record.architecture
        package.priority = record.priority
        package.source = record.source
        package.homepage = record.homepage
        package.summary = record.summary
        package.fileName = record.fileName
        return package
    }

    private func makeDependency(_ record: DependencyRecord) -> Dependency {
        let dependency = Dependency(context: context)
        dependency.kind = record.kind
        dependency.group = Int32(record.group)
        dependency.alternative = Int16(record.alternative)
        dependency.relation = record.relation
        dependency.version = record.version
        dependency.qualifier = record.qualifier
        dependency.unresolvedName = record.unresolvedName
        return dependency
    }

    private mutating func added() throws {
        unsaved += 1
        if unsaved == batchSize { try save() }
    }

    /// Durable when it returns.
    private mutating func save() throws {
        try context.save()
        outcome.objectCount += unsaved
        outcome.saveCount += 1
        unsaved = 0
        progress(outcome.objectCount)
    }
}
