import Foundation
import StrataModelFile

/// What a keyed archive may hold: objects of some classes, and collections of such if the collections' classes are
/// among them. What those objects hold inside is a matter of their own coding.
///
/// corelibs' archiver and unarchiver stop the program at any other object, so that such are kept away from them.
struct SecureArchiveContent {
    let classes: [AnyClass]

    private func allows(_ type: AnyClass) -> Bool {
        classes.contains { Self.is(type, $0) }
    }

    private static func `is`(_ type: AnyClass, _ ancestor: AnyClass) -> Bool {
        var next: AnyClass? = type
        while let current = next {
            if current == ancestor { return true }
            next = _getSuperclass(current)
        }
        return false
    }

    // MARK: Writing

    /// A value as the archiver takes it; nil if it may not be archived.
    func archivable(_ value: Any) -> Any? {
        let isObject = type(of: value) is AnyClass
        switch value {
        case let list as [Any]:
            let parts = list.compactMap(archivable)
            guard parts.count == list.count, allows(NSArray.self) else { return nil }
            return isObject && !list.contains(where: Self.isUnbridged) ? value : parts
        case let dictionary as [AnyHashable: Any]:
            guard allows(NSDictionary.self) else { return nil }
            var parts: [AnyHashable: Any] = [:]
            var isUnbridged = false
            for (key, value) in dictionary {
                guard let name = archivable(key.base) as? AnyHashable, let part = archivable(value) else { return nil }
                parts[name] = part
                if Self.isUnbridged(key.base) || Self.isUnbridged(value) { isUnbridged = true }
            }
            return isObject && !isUnbridged ? value : parts
        case let set as Set<AnyHashable>:
            let parts = set.compactMap { archivable($0.base) as? AnyHashable }
            guard parts.count == set.count, allows(NSSet.self) else { return nil }
            return isObject && !set.contains(where: { Self.isUnbridged($0.base) }) ? value : Set(parts)
        case let set as NSOrderedSet:
            return allows(NSOrderedSet.self) && set.allSatisfy { archivable($0) != nil } ? set : nil
        default:
            guard let object = Self.bridged(value), object is any NSSecureCoding, allows(type(of: object)) else {
                return nil
            }
            return Self.isUnbridged(value) ? object : value
        }
    }

    /// The only number that the archiver does not turn into an object.
    private static func isUnbridged(_ value: Any) -> Bool { type(of: value) == CGFloat.self }

    private static func bridged(_ value: Any) -> AnyObject? {
        KeyValueAccess.number(value) ?? (value as? NSString) ?? (value as? NSDate) ?? (value as? NSData)
            ?? (value as? NSURL) ?? (value as? NSUUID) ?? (value as? NSObject)
    }

    // MARK: Reading

    /// Whether an archive holds nothing else.
    ///
    /// - Complexity: O(n) in its objects.
    func allows(_ archive: Data) -> Bool {
        (try? holdsAllowed(KeyedArchive([UInt8](archive)))) ?? false
    }

    private func holdsAllowed(_ archive: KeyedArchive) throws(ArchiveError) -> Bool {
        var seen: Set<Int> = []
        var rest = [try archive.rootValue()]
        while let value = rest.popLast() {
            guard case .object(let object) = value, seen.insert(object.uid).inserted else { continue }
            guard
                let type = NSKeyedUnarchiver.class(forClassName: object.className)
                    ?? NSClassFromString(object.className),
                allows(type)
            else { return false }
            let collections: [AnyClass] = [NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self]
            guard collections.contains(where: { Self.is(type, $0) }) else { continue }
            for key in object.keys { rest += try object.values(key) }
        }
        return true
    }
}
