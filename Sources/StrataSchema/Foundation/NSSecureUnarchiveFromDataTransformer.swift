import Foundation

/// Reads keyed archives whose root objects are of known classes, and in reverse writes them. Subclasses name further
/// classes. Linux's Foundation lacks it.
///
/// Thread rule and `@unchecked Sendable`: as for ``ValueTransformer``; it has no state.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    /// The classes that archives may hold, besides strings, numbers, dates, data, arrays and dictionaries.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self,
            NSDecimalNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The object in an archive; nil if the value is no data, no archive, or holds an object of another class.
    open override func transformedValue(_ value: Any?) -> Any? {
        let content = content
        guard let data = value as? Data, content.allows(data) else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: content.classes, from: data)
    }

    /// The archive of an object; nil if it is of another class, or holds an object of one, and for what Linux's
    /// Foundation cannot archive: `NSDecimalNumber`, and collections that nest deeper than 64.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value = value.flatMap(content.archivable) else { return nil }
        let data = try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        // Foundation says nothing when it cannot write the archive's property list.
        return data?.isEmpty == false ? data : nil
    }

    private var content: SecureArchiveContent { SecureArchiveContent(Self.allowedTopLevelClasses) }

    /// Whether an object can be archived.
    final func accepts(_ value: Any) -> Bool { content.archivable(value) != nil }
}
