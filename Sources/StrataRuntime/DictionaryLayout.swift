import Foundation

/// Makes Foundation's dictionary around one of Swift's, without hashing its keys anew.
///
/// Assumes: the last stored property of an `NSDictionary` is a native dictionary of objects by objects (`_storage` in
/// swift-corelibs-foundation's NSDictionary.swift).
/// If that were wrong: ``isKnown`` says so, and Foundation's initialiser makes each dictionary. What it looks at tells
/// a Swift dictionary from anything else before a pointer is followed.
package enum DictionaryLayout {
    /// The dictionary as one of Foundation's; nil if that cannot be made in this way.
    ///
    /// - Complexity: O(1).
    package static func make(_ dictionary: consuming [NSObject: AnyObject]) -> NSDictionary? {
        guard isKnown else { return nil }
        let made = NSDictionary()
        storage(of: made).assumingMemoryBound(to: [NSObject: AnyObject].self).pointee = dictionary
        return made
    }

    /// Whether the storage is where it is assumed to be. Found out once.
    package static let isKnown = isRight()

    private static let offset = Int(ObjectClass.byteCount(NSDictionary.self)) - MemoryLayout<UInt>.size

    private static func storage(of dictionary: NSDictionary) -> UnsafeMutableRawPointer {
        // SAFETY: within the object, whose size the offset was made of.
        Unmanaged.passUnretained(dictionary).toOpaque() + offset
    }

    private static func isRight() -> Bool {
        // Not shorter than an object's header, and aligned.
        guard MemoryLayout<[NSObject: AnyObject]>.size == MemoryLayout<UInt>.size,
            offset >= 2 * MemoryLayout<UInt>.size, offset % MemoryLayout<UInt>.alignment == 0
        else { return false }
        // All empty dictionaries of Swift are one object.
        let (empty, other) = (NSDictionary(), NSDictionary())
        // What is written into must be nobody else's.
        guard empty !== other,
            storage(of: empty).load(as: UInt.self) == unsafeBitCast([NSObject: AnyObject](), to: UInt.self)
        else { return false }
        // With an entry it is an object, whose class says what keys and values are.
        let native: [NSObject: AnyObject] = [NSObject(): NSObject()]
        let one = NSDictionary(object: NSObject(), forKey: NSString("key"))
        return withExtendedLifetime((native, one)) {
            let own = UnsafeRawPointer(bitPattern: unsafeBitCast(native, to: UInt.self))
            let theirs = storage(of: one).load(as: UnsafeRawPointer?.self)
            return own?.load(as: UInt.self) == theirs?.load(as: UInt.self)
        }
    }

    // MARK: Check

    private final class Probe: NSObject {
        let deaths: Deaths

        init(_ deaths: Deaths) { self.deaths = deaths }

        deinit { deaths.count += 1 }
    }

    private final class Deaths {
        var count = 0
    }

    static func check() -> String? {
        if !isKnown { return "an NSDictionary does not have its storage last" }
        let deaths = Deaths()
        if let problem = check(deaths) { return problem }
        return deaths.count == 2 ? nil : "a dictionary frees its values too often, or not at all"
    }

    private static func check(_ deaths: Deaths) -> String? {
        let (first, second) = (Probe(deaths), Probe(deaths))
        let keys = ["a", "b"] as [NSString]
        guard let made = make([keys[0]: first, keys[1]: second]), made.count == 2,
            made.object(forKey: "a") as AnyObject === first, made.object(forKey: "b") as AnyObject === second,
            made == NSDictionary(objects: [first, second], forKeys: keys), (made as? [String: Any])?.count == 2
        else { return "a dictionary that was made around one of Swift's has other values" }
        return nil
    }
}
