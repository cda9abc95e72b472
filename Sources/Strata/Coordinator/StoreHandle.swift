import Foundation
import StrataLog
import SystemPackage

/// An open store as contexts use it.
final class StoreHandle: Sendable {
    let log: LogStore
    let map: StoreMap
    let shapes: ModelShapes
    let identity: StoreIdentity
    let isReadOnly: Bool
    let path: String
    /// Parallel to the constraints that the log knows.
    let constraints: [StoreConstraint]

    init(log: LogStore, map: StoreMap, shapes: ModelShapes, isReadOnly: Bool, path: String) {
        self.log = log
        self.map = map
        self.shapes = shapes
        self.isReadOnly = isReadOnly
        self.path = path
        constraints = StoreConstraint.all(shapes, map)
        if !isReadOnly { log.enforce(constraints.map(\.unique)) }
        identity = StoreIdentity.named(Self.uuid(log.storeUUID).uuidString)
    }

    static func uuid(_ words: StoreUUID) -> UUID {
        unsafeBitCast((words.high.bigEndian, words.low.bigEndian), to: UUID.self)
    }
}

/// Turns the engine's errors into Core Data's.
enum StoreFailure {
    static func cocoaError(_ error: StoreError, saving handle: StoreHandle) -> any Error {
        make(error, error.code == .conflict ? .managedObjectMerge : .persistentStoreSave, handle)
    }

    static func cocoaError(_ error: StoreError, reading handle: StoreHandle) -> any Error {
        make(error, .persistentStoreOperation, handle)
    }

    static func opening(_ error: StoreError, _ path: String) -> any Error {
        CocoaError(.persistentStoreOpen, userInfo: info(error, path))
    }

    static func readOnly(_ handle: StoreHandle) -> any Error {
        CocoaError(
            .persistentStoreSave,
            userInfo: [NSLocalizedDescriptionKey: "The store is read-only.", NSFilePathErrorKey: handle.path])
    }

    private static func make(_ error: StoreError, _ code: CocoaError.Code, _ handle: StoreHandle) -> any Error {
        CocoaError(code, userInfo: info(error, handle.path))
    }

    private static func info(_ error: StoreError, _ path: String) -> [String: Any] {
        var underlying: any Error = error
        if let errno = error.errno {
            underlying = NSError(
                domain: NSPOSIXErrorDomain, code: Int(errno.rawValue),
                userInfo: [NSLocalizedDescriptionKey: error.description])
        }
        return [
            NSLocalizedDescriptionKey: error.description, NSFilePathErrorKey: path, NSUnderlyingErrorKey: underlying,
        ]
    }
}
