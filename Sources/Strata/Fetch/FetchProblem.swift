import Foundation

/// Makes the errors of requests that make no sense. Core Data raises an exception for most of these.
enum FetchProblem {
    static func error(_ text: String) -> CocoaError {
        CocoaError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
    }

    static func unknownKey(_ path: String, _ shape: EntityShape) -> CocoaError {
        error("keypath \(path) not found in entity \(shape.name)")
    }
}
