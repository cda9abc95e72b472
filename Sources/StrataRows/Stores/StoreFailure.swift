import Foundation
import StrataLog
import SystemPackage

/// Turns the engine's errors into Core Data's.
package enum StoreFailure {
    /// What is damaged is noted.
    package static func cocoaError(_ error: StoreError, saving handle: StoreHandle) -> any Error {
        if error.code == .corruption { handle.recordDamage(error) }
        return make(error, error.code == .conflict ? .managedObjectMerge : .persistentStoreSave, handle)
    }

    /// What is damaged is noted.
    package static func cocoaError(_ error: StoreError, reading handle: StoreHandle) -> any Error {
        if error.code == .corruption { handle.recordDamage(error) }
        return description(error, of: handle)
    }

    /// The error of reading, for what has been noted.
    package static func description(_ error: StoreError, of handle: StoreHandle) -> any Error {
        make(error, .persistentStoreOperation, handle)
    }

    /// The store has been removed from its coordinator.
    package static func removed(_ path: String) -> any Error {
        DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store at \(path) has been removed from its coordinator. Add it again and use a new context.",
                NSFilePathErrorKey: path,
            ])
    }

    /// What Core Data's codes say of a store that cannot be opened: the file-system ones where they apply.
    package static func opening(_ error: StoreError, _ path: String) -> any Error {
        let code: CocoaError.Code =
            switch error.code {
            case .corruption, .unsupportedFormat: .fileReadCorruptFile
            case .notFound: .fileReadNoSuchFile
            case .io:
                switch error.errno {
                case .permissionDenied?, .notPermitted?: .fileReadNoPermission
                case .readOnlyFileSystem?: .fileWriteVolumeReadOnly
                case .noSpace?: .fileWriteOutOfSpace
                case .noSuchFileOrDirectory?, .notDirectory?, .fileExists?: .fileWriteUnknown
                default: .persistentStoreOpen
                }
            default: .persistentStoreOpen
            }
        return DescribedError(code, userInfo: info(error, path))
    }

    /// Another process held the store for longer than ``NSPersistentStoreTimeoutOption`` allows.
    package static func timeout(_ error: StoreError, _ path: String) -> any Error {
        DescribedError(.persistentStoreTimeout, userInfo: info(error, path))
    }

    package static func readOnly(_ handle: StoreHandle) -> any Error {
        DescribedError(
            .fileWriteNoPermission,
            userInfo: [NSLocalizedDescriptionKey: "The store is read-only.", NSFilePathErrorKey: handle.path]
                .merging(stores(handle)) { first, _ in first })
    }

    private static func make(_ error: StoreError, _ code: CocoaError.Code, _ handle: StoreHandle) -> any Error {
        DescribedError(code, userInfo: info(error, handle.path).merging(stores(handle)) { first, _ in first })
    }

    /// The store, for the user info of errors that concern it.
    private static func stores(_ handle: StoreHandle) -> [String: Any] {
        handle.openStore.map { [NSAffectedStoresErrorKey: [$0 as AnyObject]] } ?? [:]
    }

    private static func info(_ error: StoreError, _ path: String) -> [String: Any] {
        var underlying: any Error = error
        if let errno = error.errno {
            underlying = NSError(
                domain: NSPOSIXErrorDomain, code: Int(errno.rawValue),
                userInfo: [
                    NSLocalizedDescriptionKey: error.description,
                    NSLocalizedFailureReasonErrorKey: error.description,
                ])
        }
        return [
            NSLocalizedDescriptionKey: error.description, NSFilePathErrorKey: path, NSUnderlyingErrorKey: underlying,
        ]
    }
}
