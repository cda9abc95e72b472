import Foundation
import StrataModelFile

/// What a keyed archive may hold: objects of some classes and of those that property lists consist of. What the objects
/// hold inside, but for collections, is a matter of their own coding.
///
/// corelibs' archiver and unarchiver stop the program at any other object, and at an archive that leads back into
/// itself, so that such are kept away from them.
struct SecureArchiveContent {
    /// Property lists are safe whatever a transformer lists.
    private static let plain: [AnyClass] = [
        NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self, NSDictionary.self,
    ]
    private static let collections: [AnyClass] = [NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self]
    /// More than people nest, and less than a thread's stack bears.
    private static let maximumDepth = 64

    let classes: [AnyClass]

    init(_ classes: [AnyClass]) { self.classes = classes + Self.plain }

    private func allows(_ type: AnyClass) -> Bool { Self.is(type, oneOf: classes) }

    private static func `is`(_ type: AnyClass, oneOf ancestors: [AnyClass]) -> Bool {
        var next: AnyClass? = type
        while let current = next {
            if ancestors.contains(where: { $0 == current }) { return true }
            next = _getSuperclass(current)
        }
        return false
    }

    // MARK: Writing

    /// A value as the archiver takes it; nil if it may not be archived.
    func archivable(_ value: Any) -> Any? { form(of: value, depth: 0)?.value }

    /// - Returns: `isNew` if it is another value: something in it was a number that the archiver does not know.
    private func form(of value: Any, depth: Int) -> (value: Any, isNew: Bool)? {
        guard depth <= Self.maximumDepth else { return nil }
        /// Nil if one of them may not be archived.
        func forms(of values: [Any]) -> (values: [Any], isNew: Bool)? {
            var forms: [Any] = []
            var isNew = false
            for value in values {
                guard let form = form(of: value, depth: depth + 1) else { return nil }
                forms.append(form.value)
                if form.isNew { isNew = true }
            }
            return (forms, isNew)
        }
        switch value {
        case let list as [Any]:
            guard let (parts, isNew) = forms(of: list) else { return nil }
            return isNew ? (NSArray(array: parts), true) : (value, false)
        case let dictionary as [AnyHashable: Any]:
            guard let keys = forms(of: dictionary.keys.map(\.base)), let values = forms(of: Array(dictionary.values))
            else { return nil }
            guard keys.isNew || values.isNew else { return (value, false) }
            let copy = NSMutableDictionary()
            for (key, value) in zip(keys.values, values.values) {
                guard let key = key as? AnyHashable else { return nil }
                copy.setObject(value, forKey: key)
            }
            return (copy, true)
        case let set as Set<AnyHashable>:
            guard allows(NSSet.self), let (parts, isNew) = forms(of: set.map(\.base)) else { return nil }
            return isNew ? (NSSet(array: parts), true) : (value, false)
        case let set as NSOrderedSet:
            guard allows(NSOrderedSet.self), let (parts, isNew) = forms(of: Array(set)) else { return nil }
            return isNew ? (NSOrderedSet(array: parts), true) : (value, false)
        default:
            guard let object = Self.bridged(value), object is any NSSecureCoding, allows(type(of: object)) else {
                return nil
            }
            // The archiver asks for the hash value, which corelibs computes without end.
            if object is NSDecimalNumber { return nil }
            // The only number that the archiver does not turn into an object.
            return type(of: value) == CGFloat.self ? (object, true) : (value, false)
        }
    }

    private static func bridged(_ value: Any) -> AnyObject? {
        KeyValueAccess.number(value) ?? (value as? NSString) ?? (value as? NSDate) ?? (value as? NSData)
            ?? (value as? NSURL) ?? (value as? NSUUID) ?? (value as? NSObject)
    }

    // MARK: Reading

    /// Whether an archive holds nothing else.
    ///
    /// - Complexity: O(n) in its bytes.
    func allows(_ archive: Data) -> Bool {
        // The unarchiver begins with Foundation's reader of property lists. Objects refer to each other by numbers.
        let limits = PropertyListLimits(byteCount: .max)
        guard (try? PropertyListFile.check(archive, limits)) != nil,
            let content = try? KeyedArchive([UInt8](archive)), let root = try? content.rootValue()
        else { return false }
        // No list of an archive that Foundation writes belongs to two objects, so that there is a byte for each.
        var walk = Walk(steps: archive.count)
        return (try? holdsAllowed(root, &walk)) ?? false
    }

    private struct Walk {
        /// How many values may still be looked at.
        var steps: Int
        /// The objects that lead to the one that is looked at.
        var path: Set<Int> = []
        var done: Set<Int> = []
        var types: [String: AnyClass] = [:]
    }

    private func holdsAllowed(_ value: ArchivedValue, _ walk: inout Walk) throws(ArchiveError) -> Bool {
        guard case .object(let object) = value, !walk.done.contains(object.uid) else { return true }
        guard walk.path.count < Self.maximumDepth, let type = archivedType(named: object.className, &walk),
            allows(type), walk.path.insert(object.uid).inserted
        else { return false }
        let isAddress = Self.is(type, oneOf: [NSURL.self])
        if isAddress || Self.is(type, oneOf: Self.collections) {
            for key in object.keys {
                let parts = try object.values(key, atMost: walk.steps)
                walk.steps -= parts.count
                for part in parts {
                    guard try holdsAllowed(part, &walk) else { return false }
                    // An address consists of a text and another address.
                    if isAddress, case .object(let part) = part,
                        !Self.is(
                            archivedType(named: part.className, &walk) ?? NSObject.self,
                            oneOf: [NSURL.self, NSString.self])
                    {
                        return false
                    }
                }
            }
        }
        walk.path.remove(object.uid)
        walk.done.insert(object.uid)
        return true
    }

    private func archivedType(named name: String, _ walk: inout Walk) -> AnyClass? {
        if let known = walk.types[name] { return known }
        let type: AnyClass? = NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name)
        walk.types[name] = type
        return type
    }
}
