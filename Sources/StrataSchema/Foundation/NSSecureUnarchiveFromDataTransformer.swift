import Foundation

/// Reads keyed archives whose root objects are of known classes, and in reverse writes them. Subclasses name further
/// classes. Linux's Foundation lacks it.
///
/// Thread rule and `@unchecked Sendable`: as for ``ValueTransformer``; it has no state.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    /// The classes that archives may hold.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self,
            NSDecimalNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The object in an archive; nil if the value is no data, no archive, or holds another class.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: data)
    }

    /// The archive of an object; nil if it cannot be archived securely.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, isAllowed(value) else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }

    /// corelibs' archiver stops the program at a value that it cannot archive, so that such are kept away from it.
    private func isAllowed(_ value: Any) -> Bool {
        switch value {
        case let list as [Any]: list.allSatisfy(isAllowed)
        case let dictionary as [AnyHashable: Any]:
            dictionary.allSatisfy { isAllowed($0.key.base) && isAllowed($0.value) }
        case let set as Set<AnyHashable>: set.allSatisfy { isAllowed($0.base) }
        default: Self.bridged(value) is any NSSecureCoding
        }
    }

    private static func bridged(_ value: Any) -> AnyObject? {
        (value as? NSNumber) ?? (value as? NSString) ?? (value as? NSDate) ?? (value as? NSData) ?? (value as? NSURL)
            ?? (value as? NSUUID) ?? (value as? NSObject)
    }
}
