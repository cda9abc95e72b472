public import BenchSupport
import Foundation
public import OO7Load
import Strata
import Synchronization

/// The module as managed objects: one container and one context, which keeps its objects between operations as long as
/// relationships lead to them from the module.
public final class OO7Objects: OO7Store {
    private let container: NSPersistentContainer
    let context: NSManagedObjectContext
    private var knownModule: Module?

    /// - Parameters:
    ///   - folder: where the store lies; it is made when it is not there.
    ///   - flushes: whether a save waits for the disk; only filling does without.
    public init(in folder: Folder, flushes: Bool) throws {
        let store = NSPersistentStoreDescription(url: URL(fileURLWithPath: folder.appending("oo7.strata").path))
        if !flushes { store.setOption(NSString("os"), forKey: StrataDurabilityOption) }
        container = NSPersistentContainer(name: "OO7", managedObjectModel: OO7Model.shared)
        container.persistentStoreDescriptions = [store]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        context = container.newBackgroundContext()
    }

    public func close() throws {
        knownModule = nil
        context.performAndWait { context.reset() }
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// The module; it is kept. Call it on the context's queue.
    func module() throws -> Module {
        if let knownModule { return knownModule }
        let request = NSFetchRequest<Module>(entityName: "Module")
        guard let module = try context.fetch(request).first else { throw BenchFailure("the module is missing") }
        knownModule = module
        return module
    }

    func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        try context.performAndWait { try body(context) }
    }

    // MARK: Changes

    public func fill(_ design: OO7Design) throws {
        try inContext { context in
            for batch in Workload.batches(OO7.compositeCount, of: 25) {
                for number in batch { Self.insert(design.composite(Int64(number + 1)), in: context) }
                try context.save()
                context.reset()
            }
            let request = NSFetchRequest<CompositePart>(entityName: "CompositePart")
            let composites = try Dictionary(uniqueKeysWithValues: context.fetch(request).map { ($0.id, $0) })
            let module = Module(context: context)
            module.id = 1
            module.type = "type0"
            module.buildDate = 1_000
            let manual = Manual(context: context)
            manual.id = 1
            manual.title = OO7Design.manualTitle
            manual.text = design.manualText
            manual.module = module
            var assemblies: [Int64: ComplexAssembly] = [:]
            for id in 1...OO7Design.baseAssemblies.upperBound {
                let row = design.assembly(id)
                let assembly: Assembly
                if row.isBase {
                    let base = BaseAssembly(context: context)
                    base.components = Set(row.components.compactMap { composites[$0] })
                    assembly = base
                } else {
                    let complex = ComplexAssembly(context: context)
                    assemblies[id] = complex
                    assembly = complex
                }
                assembly.id = id
                assembly.type = row.type
                assembly.buildDate = row.buildDate
                assembly.module = module
                assembly.superAssembly = row.superAssembly.flatMap { assemblies[$0] }
            }
            module.designRoot = assemblies[1]
            try context.save()
            context.reset()
        }
    }

    public func insert(_ composites: [(composite: OO7Composite, users: [Int64])]) throws {
        try inContext { context in
            for (row, users) in composites {
                let request = NSFetchRequest<BaseAssembly>(entityName: "BaseAssembly")
                request.predicate = NSPredicate(format: "id IN %@", users)
                Self.insert(row, in: context).usedIn = Set(try context.fetch(request))
            }
            try context.save()
        }
    }

    @discardableResult
    private static func insert(_ row: OO7Composite, in context: NSManagedObjectContext) -> CompositePart {
        let composite = CompositePart(context: context)
        composite.id = row.id
        composite.type = row.type
        composite.buildDate = row.buildDate
        let document = Document(context: context)
        document.id = row.id
        document.title = row.title
        document.text = row.text
        composite.documentation = document
        var parts: [Int64: AtomicPart] = [:]
        for row in row.parts {
            let part = AtomicPart(context: context)
            part.id = row.id
            part.type = row.type
            part.buildDate = row.buildDate
            part.x = row.x
            part.y = row.y
            part.docId = row.document
            part.partOf = composite
            parts[row.id] = part
        }
        composite.rootPart = parts[row.parts[0].id]
        for row in row.parts {
            for link in row.connections {
                let connection = Connection(context: context)
                connection.type = link.type
                connection.length = link.length
                connection.from = parts[row.id]
                connection.to = parts[link.target]
            }
        }
        return composite
    }

    public func delete(_ composites: [Int64]) throws {
        try inContext { context in
            let request = NSFetchRequest<CompositePart>(entityName: "CompositePart")
            request.predicate = NSPredicate(format: "id IN %@", composites)
            for composite in try context.fetch(request) { context.delete(composite) }
            try context.save()
        }
    }

    public func rowCount() throws -> Int {
        try inContext { context in
            let entities = ["Assembly", "CompositePart", "Document", "AtomicPart", "Connection"]
            let objects = try entities.reduce(0) {
                $0 + (try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $1)))
            }
            let bases = try context.fetch(NSFetchRequest<BaseAssembly>(entityName: "BaseAssembly"))
            return bases.reduce(objects) { $0 + $1.components.count }
        }
    }
}
