public import Foundation
import StrataSupport
import Synchronization

/// The classes of stores by type.
enum StoreClasses {
    private struct UncheckedClass: @unchecked Sendable {
        // Unchecked: a metatype is immutable.
        let type: NSPersistentStore.Type
    }

    private static let registered = Mutex<[String: UncheckedClass]>([
        NSSQLiteStoreType: UncheckedClass(type: NSPersistentStore.self),
        NSInMemoryStoreType: UncheckedClass(type: NSPersistentStore.self),
        NSBinaryStoreType: UncheckedClass(type: BinaryStore.self),
        NSXMLStoreType: UncheckedClass(type: XMLStore.self),
    ])

    static var all: [String: NSPersistentStore.Type] {
        registered.withLock { $0 }.mapValues(\.type)
    }

    static func register(_ type: NSPersistentStore.Type?, for name: String) {
        let box = type.map { UncheckedClass(type: $0) }
        registered.withLock { $0[name] = box }
    }

    /// The class for a type.
    ///
    /// - Throws: `CocoaError` 134000 when none is registered.
    static func storeClass(_ name: String) throws -> NSPersistentStore.Type {
        guard let box = registered.withLock({ $0[name] }) else { throw StoreOpening.unknownType(name) }
        return box.type
    }

    /// Nil for a log store.
    static func customClass(_ name: String) throws -> NSPersistentStore.Type? {
        let type = try storeClass(name)
        return type == NSPersistentStore.self ? nil : type
    }
}

extension NSPersistentStoreCoordinator {
    class func register(_ storeClass: AnyClass?, _ storeType: String) {
        guard let storeClass else { return StoreClasses.register(nil, for: storeType) }
        guard let type = storeClass as? NSPersistentStore.Type, isCustom(type) else {
            programmerError(
                "\(storeClass)", "registerStoreClass takes a subclass of NSAtomicStore or NSIncrementalStore",
                "Let the class inherit from one of them")
        }
        StoreClasses.register(type, for: storeType)
    }

    /// As ``registerStoreClass(_:forStoreType:)``, in the new spelling.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    private class func isCustom(_ type: NSPersistentStore.Type) -> Bool {
        type is NSAtomicStore.Type || type is NSIncrementalStore.Type
    }
}

extension NSValue {
    convenience init(storeClass: NSPersistentStore.Type) {
        var pointer = UInt64(UInt(bitPattern: ObjectIdentifier(storeClass)))
        self.init(bytes: &pointer, objCType: "Q")
    }

    /// The class that a value of ``NSPersistentStoreCoordinator/registeredStoreTypes`` holds; nil for other values.
    public var storeClass: AnyClass? {
        var pointer: UInt64 = 0
        guard String(cString: objCType) == "Q" else { return nil }
        withUnsafeMutableBytes(of: &pointer) { bytes in
            if let base = bytes.baseAddress { getValue(base) }
        }
        return StoreClasses.all.values.first { UInt64(UInt(bitPattern: ObjectIdentifier($0))) == pointer }
    }
}
