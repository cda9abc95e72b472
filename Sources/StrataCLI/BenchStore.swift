import Foundation
import Strata
import StrataBrowsing
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A store that `bench` makes, in a directory of its own that goes with it.
final class BenchStore: Sendable {
    static let entity = "Item"

    /// The new directory.
    let directory: URL
    let coordinator: NSPersistentStoreCoordinator
    /// So many objects it is filled with; their keys are the first ones.
    let rows: Int
    /// What filling and measuring take at most: a row with its place in the indexes, versions of it, and a segment.
    private static func bytesWanted(_ rows: Int) -> Int { rows * 512 + (256 << 20) }

    /// Keys are given once: the next one.
    private let nextKey = Atomic<Int>(0)

    /// Makes a directory with a new name in one that is there, and the store in it.
    ///
    /// - Throws: `CommandError` where there is no directory, or a store; what making a store throws.
    init(in parent: URL, rows: Int) throws {
        self.rows = rows
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: parent.path, isDirectory: &isDirectory), isDirectory.boolValue
        else { throw CommandError("\(parent.path) is no directory") }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        guard !names.contains("MANIFEST"), !names.contains("LOCK") else {
            throw CommandError("\(parent.path) is a store: name the directory that a new one is to be made in")
        }
        if let free = FreeSpace(at: parent), free.bytes < Self.bytesWanted(rows) {
            throw CommandError(
                "\(parent.path) has \(ByteSize.text(free.bytes)) left, and \(rows) objects may take "
                    + "\(ByteSize.text(Self.bytesWanted(rows))): ask for fewer with --rows, or name another directory")
        }
        var template = Array((parent.path + "/strata-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError("no directory can be made in \(parent.path): \(String(cString: strerror(errno)))")
        }
        directory = URL(
            fileURLWithPath: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self),
            isDirectory: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        do {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("store"),
                options: nil)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
    }

    /// Closes the store and removes the directory.
    ///
    /// - Throws: what the file system refuses.
    func remove() throws {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try FileManager.default.removeItem(at: directory)
    }

    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        let item = NSEntityDescription()
        item.name = entity
        let key = attribute("key", .integer64AttributeType)
        item.properties = [
            key, attribute("name", .stringAttributeType), attribute("amount", .doubleAttributeType),
            attribute("text", .stringAttributeType),
        ]
        item.indexes = [
            NSFetchIndexDescription(
                name: "byKey", elements: [NSFetchIndexElementDescription(property: key, collationType: .binary)])
        ]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    /// How many objects have been made.
    var count: Int { nextKey.load(ordering: .relaxed) }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    /// Inserts objects with the next keys.
    func insert(_ count: Int, _ context: NSManagedObjectContext) {
        let first = nextKey.add(count, ordering: .relaxed).oldValue
        for key in first..<first + count {
            let object = NSEntityDescription.insertNewObject(forEntityName: Self.entity, into: context)
            object.setValue(key, forKey: "key")
            object.setValue("Item \(key)", forKey: "name")
            object.setValue(Double(key % 1_000), forKey: "amount")
            object.setValue("What is known of item \(key), which is number \(key % 997) of its kind.", forKey: "text")
        }
    }
}
